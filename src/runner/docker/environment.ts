import { rootCertificates } from "node:tls";
import { APP_HOME } from "./image-recipe.ts";
import { EGRESS_PORT } from "./programs.ts";

/** Where the certificate authorities lie inside a place. */
export const CA_PATH = "/etc/ssl/evoweb-ca.pem";

/** Names under which programs look for a file of certificate authorities. */
const CA_VARIABLES = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "PIP_CERT",
  "REQUESTS_CA_BUNDLE",
  "npm_config_cafile",
];

/** The whole environment of commands in a place; nothing of the host's is in it. */
export function placeEnvironment(hasCa: boolean): Record<string, string> {
  const proxy = `http://127.0.0.1:${EGRESS_PORT}`;
  const direct = "localhost,127.0.0.1,::1";
  return {
    PATH: `${APP_HOME}/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    HOME: APP_HOME,
    USER: "app",
    LOGNAME: "app",
    LANG: "C.UTF-8",
    HTTP_PROXY: proxy,
    http_proxy: proxy,
    HTTPS_PROXY: proxy,
    https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    // Node's own fetch looks at the variables above only when told to.
    NODE_USE_ENV_PROXY: "1",
    // Otherwise every Node process says on stderr that this is experimental, and logs are full of it.
    NODE_OPTIONS: "--disable-warning=UNDICI-EHPA",
    npm_config_update_notifier: "false",
    // `npm install -g` must not need root.
    npm_config_prefix: `${APP_HOME}/.local`,
    ...(hasCa ? Object.fromEntries(CA_VARIABLES.map((name) => [name, CA_PATH])) : {}),
  };
}

/** Most of the variables replace the usual authorities, so those must be in the file too. */
export const caBundle = (extra: string): string => [...rootCertificates, extra.trim(), ""].join("\n");
