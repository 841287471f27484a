import { secretsOf, type RunEnvironment } from "../index.ts";

/** What the runner may know of this process's environment. */
export function readEnvironment(): RunEnvironment {
  const { EVOWEB_CHROMIUM: chromium, DOCKER_HOST: dockerHost, EVOWEB_BASE_IMAGE: baseImage } = process.env;
  return {
    secrets: secretsOf(process.env),
    ...(chromium === undefined || chromium === "" ? {} : { chromium }),
    ...(dockerHost === undefined || dockerHost === "" ? {} : { dockerHost }),
    ...(baseImage === undefined || baseImage === "" ? {} : { baseImage }),
  };
}
