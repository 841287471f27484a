import { expect, test } from "vitest";
import { createMask, secretsOf } from "../../src/trace/mask.ts";

const secret = ["sk", "CANARY", "s3cret/+value=="].join("-");
const mask = createMask([secret]);
const CORE = "CANARY";

test.each([
  ["as it is", `key: ${secret}.`],
  ["in a URL", `http://u:${encodeURIComponent(secret)}@h/?k=${encodeURIComponent(secret)}`],
  ["split over two lines", `${secret.slice(0, 9)}\n${secret.slice(9)}`],
  ["split over two lines of a JSON text", JSON.stringify(`${secret.slice(0, 9)}\r\n${secret.slice(9)}`)],
])("a secret %s is masked", (_, text) => {
  expect(mask(text)).not.toContain(CORE);
  expect(mask(text)).toContain("[masked]");
});

test.each(["", "a", "ab", "user:", "someone:"])("a secret in base64 behind %j is masked", (before) => {
  const encoded = Buffer.from(`${before}${secret}`).toString("base64");
  expect(mask(`Basic ${encoded}`)).toContain("[masked]");
  const left = mask(encoded).replace("[masked]", "");
  expect(Buffer.from(left, "base64").toString("utf8")).not.toContain(CORE);
});

test("text without a secret is unchanged, and no secrets means no masking", () => {
  expect(mask("nothing here")).toBe("nothing here");
  expect(createMask([])("x")).toBe("x");
});

test("secrets are found by the names of their variables, short values are not", () => {
  const found = secretsOf({
    OPENAI_API_KEY: "abcdefgh",
    HF_TOKEN: "hf_12345",
    PATH: "/usr/bin:/bin",
    KEY: "1",
    DB_PASSWORD: "hunter22",
  });
  expect(found).toEqual(["abcdefgh", "hf_12345", "hunter22"]);
});
