import sharp from "sharp";
import { COLOR_NAMES } from "./color-names.ts";
import type { PageFacts } from "./page-script.ts";
import type { KeyPoint, PageColors } from "./record.ts";

type Rgb = readonly [number, number, number];

/**
 * Distances in CIE Lab (1976), where about 2 is what an eye can just tell. Up to 20 is a shade of the same colour by any reading; from 60
 * on nobody would use the same word. Between them a model looks.
 */
const SAME = 20;
const OTHER = 60;
/** The everyday words stand for a whole range, which is told by hue: within 25 degrees of it, and surely outside from 60 on. */
const SAME_HUE = 25;
const OTHER_HUE = 60;
const HUES: Readonly<Record<string, number>> = {
  red: 0,
  orange: 32,
  yellow: 55,
  green: 125,
  cyan: 185,
  blue: 222,
  purple: 280,
  pink: 335,
};
/** Below the first a colour is grey to the eye, from the second on it surely has a hue (saturation times contrast, 0 to 1). */
const GREY_BELOW = 0.08;
const COLOURED_FROM = 0.25;
/** A colour with less of the picture than this may be a letter or a line. */
const MIN_SHARE = 0.02;

const isGrey = (name: string): boolean => /^(?:black|white|gr[ae]y)$/u.test(name);

function parseColor(text: string): Rgb | undefined {
  const hex = /^#?([0-9a-f]{6})$/iu.exec(text)?.[1];
  if (hex !== undefined) return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb;
  const [r, g, b] = [...text.matchAll(/[\d.]+/gu)].map(Number);
  return /^rgba?\(/u.test(text) && r !== undefined && g !== undefined && b !== undefined ? [r, g, b] : undefined;
}

function lab([r, g, b]: Rgb): Rgb {
  const linear = (value: number): number => {
    const part = value / 255;
    return part > 0.04045 ? ((part + 0.055) / 1.055) ** 2.4 : part / 12.92;
  };
  const [lr, lg, lb] = [linear(r), linear(g), linear(b)];
  const f = (value: number): number => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  const x = f((0.4124 * lr + 0.3576 * lg + 0.1805 * lb) / 0.95047);
  const y = f(0.2126 * lr + 0.7152 * lg + 0.0722 * lb);
  const z = f((0.0193 * lr + 0.1192 * lg + 0.9505 * lb) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function distance(one: Rgb, other: Rgb): number {
  const [a, b] = [lab(one), lab(other)];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

function hueOf([r, g, b]: Rgb): { hue: number; chroma: number } {
  const [max, min] = [Math.max(r, g, b), Math.min(r, g, b)];
  const range = max - min;
  if (range === 0) return { hue: 0, chroma: 0 };
  const sector = max === r ? (g - b) / range : max === g ? 2 + (b - r) / range : 4 + (r - g) / range;
  return { hue: (sector * 60 + 360) % 360, chroma: range / 255 };
}

/** A colour that a check asks for. */
interface Wanted {
  readonly name: string;
  readonly rgb: Rgb;
}

/** "same", "other", or undefined where it takes somebody who looks. */
function compare(wanted: Wanted, seen: Rgb): "same" | "other" | undefined {
  const hue = HUES[wanted.name];
  if (hue === undefined) {
    const far = distance(wanted.rgb, seen);
    if (far <= SAME) return "same";
    if (isGrey(wanted.name) && hueOf(seen).chroma >= COLOURED_FROM) return "other";
    return far >= OTHER ? "other" : undefined;
  }
  const { hue: seenHue, chroma } = hueOf(seen);
  if (chroma < GREY_BELOW) return "other";
  const apart = Math.min(Math.abs(hue - seenHue), 360 - Math.abs(hue - seenHue));
  if (apart >= OTHER_HUE) return "other";
  return apart <= SAME_HUE && chroma >= COLOURED_FROM ? "same" : undefined;
}

/** The colours that a text names, by hexadecimal value or CSS name, also with spaces ("light blue"). */
function colorsIn(text: string): Wanted[] {
  const found = new Map<string, Rgb>();
  let rest = text.toLowerCase();
  for (const [hex] of rest.matchAll(/#[0-9a-f]{6}\b/gu)) {
    const rgb = parseColor(hex);
    if (rgb !== undefined) found.set(hex, rgb);
  }
  for (const words of [3, 2, 1]) {
    const run = new RegExp(String.raw`\b[a-z]+(?:[ -][a-z]+){${words - 1}}\b`, "gu");
    for (let at = run.exec(rest); at !== null; at = run.exec(rest)) {
      const name = at[0].replaceAll(/[ -]/gu, "");
      const rgb = parseColor(COLOR_NAMES.get(name) ?? "");
      if (rgb === undefined) {
        run.lastIndex = at.index + (/^[a-z]+/u.exec(at[0])?.[0].length ?? 1);
        continue;
      }
      found.set(name, rgb);
      rest = `${rest.slice(0, at.index)}${"_".repeat(at[0].length)}${rest.slice(at.index + at[0].length)}`;
    }
  }
  return [...found].map(([name, rgb]) => ({ name, rgb }));
}

/** The colours of a picture of the window and of the page's parts. Null when the picture cannot be read. */
export async function readColors(picture: string, facts: PageFacts): Promise<PageColors | null> {
  const raw = await sharp(picture)
    .resize(160, 90, { fit: "fill", kernel: "nearest" })
    .removeAlpha()
    .raw()
    .toBuffer()
    .catch(() => null);
  if (raw === null) return null;
  const bins = new Map<number, { count: number; sum: [number, number, number] }>();
  for (let at = 0; at + 2 < raw.length; at += 3) {
    const [r, g, b] = [raw[at] ?? 0, raw[at + 1] ?? 0, raw[at + 2] ?? 0];
    const key = (r >> 4) * 256 + (g >> 4) * 16 + (b >> 4);
    const bin = bins.get(key) ?? { count: 0, sum: [0, 0, 0] };
    bin.count += 1;
    bin.sum = [bin.sum[0] + r, bin.sum[1] + g, bin.sum[2] + b];
    bins.set(key, bin);
  }
  const total = raw.length / 3;
  const dominant = [...bins.values()]
    .map(({ count, sum }) => ({
      color: `rgb(${sum.map((part) => Math.round(part / count)).join(", ")})`,
      share: count / total,
    }))
    .filter(({ share }) => share >= MIN_SHARE)
    .sort((one, other) => other.share - one.share)
    .slice(0, 8);
  return { dominant, parts: facts.parts.map(({ part, color, area }) => ({ part, color, area })) };
}

/** A point settled by its colours, with what was measured. */
export interface ColorRuling {
  readonly status: "met" | "not_met";
  readonly saw: string;
}

type Seen = readonly { readonly color: string }[];
const all = (wanted: Wanted, seen: Seen, how: "same" | "other"): boolean =>
  seen.every(({ color }) => {
    const rgb = parseColor(color);
    return rgb !== undefined && compare(wanted, rgb) === how;
  });
const list = (seen: Seen): string => seen.map(({ color }) => color).join(", ");

function rulePage(wanted: Wanted, { dominant, parts }: PageColors): ColorRuling | undefined {
  const largest = dominant[0];
  const page = parts.find(({ part }) => part === "page");
  if (largest === undefined || page === undefined) return undefined;
  const saw = `background ${page.color}, colours of the window ${list(dominant.slice(0, 3))}`;
  if (all(wanted, [largest, page], "same")) return { status: "met", saw };
  return all(wanted, [...dominant, page], "other") ? { status: "not_met", saw } : undefined;
}

function ruleParts(wanted: Wanted, { dominant, parts }: PageColors, kind: RegExp): ColorRuling | undefined {
  const own = parts.filter(({ part }) => kind.test(part));
  if (own.length === 0) return undefined;
  const saw = `${own[0]?.part ?? ""} and the like: ${list(own.slice(0, 5))}`;
  if (all(wanted, own, "same")) return { status: "met", saw };
  return all(wanted, [...own, ...dominant], "other") ? { status: "not_met", saw } : undefined;
}

/**
 * Settles a visual point that is about one named colour of the page's background or its buttons or headers, when what was measured is
 * clearly that colour or clearly another everywhere. Undefined leaves it to the model.
 */
export function ruleColor({ point, tag }: KeyPoint, colors: PageColors | null): ColorRuling | undefined {
  const wanted = colorsIn(point);
  const [only] = wanted;
  if (tag !== "visual" || colors === null || only === undefined || wanted.length > 1) return undefined;
  const isOfPage = /\bbackground\b/iu.test(point);
  const isOfButtons = /\bbuttons?\b/iu.test(point);
  const isOfHeaders = /\b(?:header|navigation bar|navbar)\b/iu.test(point);
  // "The background of the buttons", text colours and borders are nothing that these measures settle alone.
  if (/\b(?:text|font|border|hover|when|after|icon|not|no)\b/iu.test(point)) return undefined;
  if (isOfButtons) return ruleParts(only, colors, /^button$/u);
  if (isOfHeaders) return ruleParts(only, colors, /^(?:header|nav)$/u);
  return isOfPage ? rulePage(only, colors) : undefined;
}
