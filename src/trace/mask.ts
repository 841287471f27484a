/** What stands where a secret stood. */
const MASKED = "[masked]";

const SECRET_NAME = /(?:key|token|secret|passw(?:or)?d|credential|authorization|cookie)/iu;
const MIN_LENGTH = 6;

/** Replaces known secrets in text; texts without one come back unchanged. */
export type Mask = (text: string) => string;

/** The values of an environment that look like secrets by their variable's name; short values are left out, as they would mask ordinary words. */
export function secretsOf(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && value.length >= MIN_LENGTH && SECRET_NAME.test(name) ? [value] : [],
  );
}

/**
 * A function that removes these secrets from text: as they are, split over two lines, in a URL, JSON-escaped, and in base64
 * at any of the three alignments (a basic login puts a name before the secret).
 */
export function createMask(secrets: readonly string[]): Mask {
  const forms = new Set(secrets.filter((secret) => secret.length >= MIN_LENGTH).flatMap(formsOf));
  if (forms.size === 0) return (text) => text;
  const alternatives = [...forms].toSorted((a, b) => b.length - a.length).map(patternOf);
  const pattern = new RegExp(alternatives.join("|"), "gu");
  return (text) => text.replace(pattern, MASKED);
}

function formsOf(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [secret, encodeURIComponent(secret), escaped, ...base64Forms(secret)];
}

function base64Forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Only the characters that do not depend on what stands before or after: skip the first group when shifted, cut the last.
  return [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
    const whole = shifted.length - (shifted.length % 3);
    const text = shifted
      .subarray(0, whole)
      .toString("base64")
      .slice(shift === 0 ? 0 : 4);
    return text.length >= MIN_LENGTH + 2 ? [text, text.replaceAll("+", "-").replaceAll("/", "_")] : [];
  });
}

// A line end may split a secret anywhere, as itself or as the two characters \n of JSON.
function patternOf(form: string): string {
  return Array.from(form, (char) => char.replace(/[\\^$.*+?()[\]{}|/]/u, "\\$&")).join("(?:\\r?\\n|(?:\\\\r)?\\\\n)?");
}
