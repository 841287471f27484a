import { EvowebError } from "../errors.ts";

/** Where calls go when nobody names an endpoint. */
const DEFAULT_BASE_URL = "https://api.openai.com/v1";

/**
 * The address below which an endpoint has `/chat/completions`: a bare host gets `/v1`, a full address loses its last two parts,
 * and any other path is taken as given. Throws `EvowebError("usage")` for what is no http address or carries a login.
 */
export function endpointUrl(given: string = DEFAULT_BASE_URL): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/u.test(url.protocol)) {
    throw new EvowebError(
      "usage",
      `the model endpoint ${JSON.stringify(given)} is no http address; give one such as ${DEFAULT_BASE_URL}`,
    );
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new EvowebError(
      "usage",
      `the model endpoint ${url.origin}${url.pathname} must not carry a login, a query or a fragment; give the key in EVOWEB_JUDGE_API_KEY`,
    );
  }
  const path = url.pathname.replace(/\/+$/u, "").replace(/\/chat\/completions$/u, "");
  return `${url.origin}${path === "" ? "/v1" : path}`;
}
