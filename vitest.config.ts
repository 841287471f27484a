import { defineConfig } from "vitest/config";

// Pure tests run on every supported Node; the others need a browser or a Docker engine and run on the floor version.
export default defineConfig({
  test: {
    // CI sums the reports of several Node versions into one line.
    ...(process.env["EVOWEB_TEST_RESULTS"] === undefined
      ? {}
      : { reporters: ["default", ["json", { outputFile: process.env["EVOWEB_TEST_RESULTS"] }]] }),
    projects: [
      {
        test: {
          name: "pure",
          sequence: { groupOrder: 0 },
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/**/*.{browser,docker,e2e,agents}.test.ts", "**/node_modules/**"],
        },
      },
      {
        test: {
          name: "browser",
          sequence: { groupOrder: 1 },
          include: ["tests/**/*.browser.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "docker",
          sequence: { groupOrder: 2 },
          include: ["tests/**/*.docker.test.ts"],
          globalSetup: "tests/runner/docker/build-image.ts",
          testTimeout: 120_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          name: "e2e",
          sequence: { groupOrder: 3 },
          maxWorkers: 1,
          include: ["tests/**/*.e2e.test.ts"],
          globalSetup: "tests/build.ts",
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      // All agents with an image of their own: hundreds of megabytes each, so only `npm run test:agents` asks for them.
      ...(process.env["npm_lifecycle_event"] !== "test:agents" && process.env["EVOWEB_TEST_AGENTS"] === undefined
        ? []
        : [
            {
              test: {
                name: "agents",
                maxWorkers: 1,
                include: ["tests/**/*.agents.test.ts"],
                testTimeout: 200_000,
                hookTimeout: 900_000,
              },
            },
          ]),
    ],
  },
});
