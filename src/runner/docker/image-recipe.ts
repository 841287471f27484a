import { createHash } from "node:crypto";

// Node itself comes from the npm registry, which a user of evoweb reaches anyway; the distribution's own is too old.
const NODE_VERSION = "22.23.5";

/** An npm package that becomes part of the image, with the hash its archive must have. */
interface ImagePackage {
  readonly spec: string;
  readonly integrity: string;
  /** Where the archive's `package/` folder lands. */
  readonly folder: string;
}

const NODE_ARCHIVES: Readonly<Record<string, string>> = {
  x64: "sha512-3jhC+wcoWxKZxcRqF2sUSl0c9HEXFnur/nuIPx6O6CWKV0jOUWQm7Htw5SuXqqlMCEhi0cJqybFPEb5hhcBiMw==",
  arm64: "sha512-e1LOUGKVruPGuLVutn8+Cgm5pI1APm4Kvh+zbb/qe/ZpD9s+TQby5iUgZOWmPpbSKpj0Td8DP1N0NEnXasHizg==",
};
const ENGINE_TO_NODE_ARCH: Readonly<Record<string, string>> = { amd64: "x64", arm64: "arm64" };

/** The packages for an engine's architecture ("amd64", "arm64"); undefined when Node is not to be had for it. */
export function imagePackages(engineArch: string): readonly ImagePackage[] | undefined {
  const arch = ENGINE_TO_NODE_ARCH[engineArch] ?? engineArch;
  const nodeIntegrity = NODE_ARCHIVES[arch];
  if (nodeIntegrity === undefined) return undefined;
  return [
    { spec: `node-linux-${arch}@${NODE_VERSION}`, integrity: nodeIntegrity, folder: "usr/local" },
    {
      spec: "npm@10.9.9",
      integrity: "sha512-1g+6jLQvaIuB4zwvHL7yrXuXcWZwDsCtBX8bbWDqbvJSSr9nPiDDWTHNgwXR27iIcTTW7v3A57hDW9RYv2W4Yg==",
      folder: "usr/local/lib/node_modules/npm",
    },
    {
      spec: "pnpm@10.34.8",
      integrity: "sha512-9ieo6XE0Ov5J39D2PQKCNCAd+oMdXLWIcz4eX42ya/FpiaMhYatcG02zsf28NzFgYGtbieAC323RmoWt+R/FqA==",
      folder: "usr/local/lib/node_modules/pnpm",
    },
    {
      spec: "yarn@1.22.22",
      integrity: "sha512-prL3kGtyG7o9Z9Sv8IPfBNrWTDmXB4Qbes8A9rEzt6wkJV8mUvoirjU0Mp3GGAU06Y0XQyA3/2/RQFVuK7MTfg==",
      folder: "usr/local/lib/node_modules/yarn",
    },
  ];
}

/** Commands under /usr/local/bin and what they lead to. */
export const LINKS: Readonly<Record<string, string>> = {
  npm: "../lib/node_modules/npm/bin/npm-cli.js",
  npx: "../lib/node_modules/npm/bin/npx-cli.js",
  pnpm: "../lib/node_modules/pnpm/bin/pnpm.cjs",
  pnpx: "../lib/node_modules/pnpm/bin/pnpx.cjs",
  yarn: "../lib/node_modules/yarn/bin/yarn.js",
};

/** The user of agents and apps. */
export const APP_UID = 1000;
/** The tree of a place. */
export const WORKSPACE = "/workspace";
/** Holds `u` and `w`, the two folders an overlay needs; a fresh volume mounted here takes them over with their owner. */
export const LAYER = "/layer";
/** HOME of agents and apps. */
export const APP_HOME = "/home/app";

/** The build script of the image, over a Debian-like base. */
export function dockerfile(base: string): string {
  return `FROM ${base}
COPY build-ca.pem /etc/ssl/evoweb-build-ca.pem
RUN export DEBIAN_FRONTEND=noninteractive \\
 && if [ -s /etc/ssl/evoweb-build-ca.pem ]; then echo 'Acquire::https::CaInfo "/etc/ssl/evoweb-build-ca.pem";' > /etc/apt/apt.conf.d/99evoweb; fi \\
 && apt-get update \\
 && apt-get install -y --no-install-recommends bash ca-certificates curl git procps python3 tar \\
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /etc/apt/apt.conf.d/99evoweb /etc/ssl/evoweb-build-ca.pem
COPY rootfs/ /
RUN (getent passwd ${APP_UID} || useradd --uid ${APP_UID} --no-create-home --home-dir ${APP_HOME} --shell /bin/bash app) \\
 && mkdir -p ${APP_HOME} ${WORKSPACE} ${LAYER}/u ${LAYER}/w \\
 && chown -R ${APP_UID}:${APP_UID} ${APP_HOME} ${WORKSPACE} ${LAYER}
ENV LANG=C.UTF-8
WORKDIR ${WORKSPACE}
CMD ["sleep", "infinity"]
`;
}

/** The image's name: the same inputs give the same tag, so a changed recipe is built anew and an old one is found again. */
export function imageTag(base: string, packages: readonly ImagePackage[]): string {
  const inputs = JSON.stringify([dockerfile(base), packages, LINKS]);
  return `evoweb-sandbox:${createHash("sha256").update(inputs).digest("hex").slice(0, 12)}`;
}
