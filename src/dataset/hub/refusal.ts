import { EvowebError } from "../../errors.ts";

/** What was asked for, for messages. */
export interface Asked {
  /** "owner/name". */
  readonly repo: string;
  /** Address of the hub. */
  readonly url: string;
  readonly revision: string;
  readonly token?: string;
}

/** What the hub's refusal means and what to do about it; the hub names the kind in a header. */
export function refusalOf(answer: Response, { repo, url, revision, token }: Asked): EvowebError {
  const { status } = answer;
  const kind = answer.headers.get("x-error-code");
  const page = `${url}/datasets/${repo}`;
  const hasToken = token !== undefined;
  if (kind === "GatedRepo") {
    const account = hasToken
      ? "the account of the token in HF_TOKEN has no access to it (or the token is wrong)"
      : "and no token is set";
    const steps = "accept its terms there with your account, then set HF_TOKEN to an access token of that account";
    return fault(`dataset ${repo} is gated, ${account}: open ${page}, ${steps}`);
  }
  if (kind === "RevisionNotFound") {
    return fault(`dataset ${repo} has no revision "${revision}"; see ${page}/commits/main, or leave --revision out`);
  }
  if (kind === "EntryNotFound") return fault(`dataset ${repo} lost a file at revision ${revision} (status ${status})`);
  if (status === 401 || status === 403 || status === 404) {
    const access = hasToken
      ? "the token in HF_TOKEN is wrong or may not read it"
      : "it is private, then set HF_TOKEN to a token that may read it";
    return fault(
      `there is no dataset ${repo} at ${url} (status ${status}): check the name (a file or folder of that name is not here either); or ${access}`,
    );
  }
  return fault(`dataset ${repo}: ${url} refused with status ${status}`);
}

/** What to say when the caller's signal or the limit of the whole pull ended it. */
export function stopOf({ repo, url, signal }: Asked & { readonly signal: AbortSignal }, cause: unknown): EvowebError {
  const isLate = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  const why = isLate ? "took too long; try again later, what arrived whole is kept" : "was stopped";
  return new EvowebError("dataset", `reading dataset ${repo} from ${url} ${why}`, { cause });
}

function fault(message: string): EvowebError {
  return new EvowebError("dataset", message);
}
