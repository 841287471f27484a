// Writes .oxlintrc.json. An oxlint override replaces earlier options, so each folder must state its whole allow-list;
// generating them keeps one table (below) as the only source.
import { writeFileSync } from "node:fs";

const folders = {
  graph: [],
  dataset: ["graph"],
  trace: ["dataset"],
  model: [],
  judge: ["dataset", "model"],
  runner: ["dataset", "trace", "model", "judge"],
  scoring: ["dataset", "trace", "graph"],
  report: ["dataset", "trace", "graph", "scoring"],
  exchange: ["dataset", "trace", "graph", "scoring"],
  jobs: ["dataset", "graph", "trace", "model", "judge", "runner", "scoring", "report", "exchange"],
};
const packages = {
  graph: ["graphology", "graphology-dag", "graphology-types"],
  dataset: ["zod", "jsonc-parser", "yaml", "hyparquet", "hyparquet-compressors"],
  trace: ["zod"],
  model: ["zod", "openai", "jsonc-parser"],
  judge: ["zod", "playwright", "sharp"],
  runner: ["zod", "tar-stream", "p-limit", "p-retry"],
  scoring: [],
  report: ["picocolors", "cli-table3", "preact", "preact/**", "preact-render-to-string"],
  exchange: ["zod", "csv-parse", "yaml"],
  jobs: ["zod", "p-limit"],
};
const node = ["node:*", "node:*/**"];

const restrict = (allowed, message) => [
  "error",
  {
    patterns: [
      {
        group: ["**", "../**", "./**", ...allowed.map((name) => `!${name}`), "**/src/index.ts", "../index.ts"],
        message,
      },
    ],
  },
];
const folderRule = (name) =>
  restrict(
    [
      ...(name === "scoring" || name === "graph" ? [] : node),
      "./**",
      "../*.ts",
      ...folders[name].map((other) => `../${other}/**`),
      ...folders[name].map((other) => `../../${other}/**`),
      "../../errors.ts",
      ...packages[name],
    ],
    `src/${name} may import only: errors, ${[...folders[name], ...packages[name]].join(", ")} (docs/decisions/imports.md)`,
  );

const overrides = Object.keys(folders).map((name) => ({
  files: [`src/${name}/**`],
  rules: { "no-restricted-imports": folderRule(name) },
}));
overrides.push(
  // The model library has one file that may import it.
  {
    files: ["src/model/**"],
    excludeFiles: ["src/model/endpoint.ts"],
    rules: {
      "no-restricted-imports": restrict(
        [...node, "./**", "../errors.ts", "zod", "jsonc-parser"],
        "only src/model/endpoint.ts imports openai; the rest of src/model its own folder, errors, zod and jsonc-parser",
      ),
    },
  },
  // The Hub's client has one folder that may import it.
  {
    files: ["src/dataset/hub/**"],
    rules: {
      "no-restricted-imports": restrict(
        [...node, "./**", "../*.ts", "../../errors.ts", "@huggingface/hub", "yaml", "zod"],
        "src/dataset/hub may import its own folder, src/dataset, errors, @huggingface/hub, yaml and zod",
      ),
    },
  },
  // Docker's client has one folder that may import it.
  {
    files: ["src/runner/docker/**"],
    rules: {
      "no-restricted-imports": restrict(
        [
          ...node,
          "./**",
          "../*.ts",
          "../../errors.ts",
          "../../trace/**",
          "../../dataset/**",
          "dockerode",
          "tar-stream",
          "zod",
        ],
        "src/runner/docker may import its own folder, src/runner, errors, dockerode and tar-stream",
      ),
    },
  },
  {
    files: ["src/cli/**"],
    rules: {
      "node/no-process-env": "off",
      "no-console": "off",
      "no-restricted-imports": restrict(
        [
          ...node,
          "./**",
          "../errors.ts",
          "../index.ts",
          "commander",
          "@commander-js/extra-typings",
          "log-update",
          "picocolors",
        ],
        "src/cli may import only errors and index",
      ).map((part) =>
        typeof part === "string"
          ? part
          : {
              patterns: [
                {
                  ...part.patterns[0],
                  group: part.patterns[0].group.filter((g) => !g.endsWith("index.ts") || g.startsWith("!")),
                },
              ],
            },
      ),
    },
  },
  {
    files: ["tests/**", "bench/**", "scripts/**", "vitest.config.ts", "datasets/**"],
    rules: {
      "node/no-process-env": "off",
      "no-console": "off",
      "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
      "max-lines-per-function": "off",
      complexity: "off",
      "import/no-default-export": "off",
    },
  },
);

const config = {
  $schema: "./node_modules/oxlint/configuration_schema.json",
  plugins: ["typescript", "import", "node", "unicorn", "promise", "oxc"],
  categories: { correctness: "error", suspicious: "error" },
  options: { typeAware: true },
  ignorePatterns: [
    "dist",
    "node_modules",
    "coverage",
    "datasets/*/solutions*",
    "tests/fixtures",
    "datasets/**/oracles/**/*.js",
  ],
  rules: {
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "import/no-unassigned-import": "off",
    "node/no-process-env": "error",
    "no-console": "error",
    "unicorn/filename-case": ["error", { case: "kebabCase" }],
    "max-lines": ["error", { max: 250 }],
    "max-lines-per-function": ["error", { max: 60 }],
    complexity: ["error", { max: 12 }],
    "max-params": ["error", { max: 3 }],
    "no-await-in-loop": "off",
    "unicorn/no-array-sort": "off",
    "unicorn/consistent-function-scoping": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "no-shadow": "off",
    "unicorn/require-module-specifiers": "off",
    "no-underscore-dangle": "off",
  },
  overrides,
};
writeFileSync(new URL("../.oxlintrc.json", import.meta.url), `${JSON.stringify(config, undefined, 2)}\n`);
