import sharp from "sharp";
import type { Box } from "./record.ts";

/** Rows of each digit, three pixels wide: no font of the machine decides what a picture shows. */
const DIGITS = [
  ["###", "#.#", "#.#", "#.#", "###"],
  [".#.", "##.", ".#.", ".#.", "###"],
  ["###", "..#", "###", "#..", "###"],
  ["###", "..#", "###", "..#", "###"],
  ["#.#", "#.#", "###", "..#", "..#"],
  ["###", "#..", "###", "..#", "###"],
  ["###", "#..", "###", "#.#", "###"],
  ["###", "..#", "..#", "..#", "..#"],
  ["###", "#.#", "###", "#.#", "###"],
  ["###", "#.#", "###", "..#", "###"],
] as const;
const PIXEL = 2;
const LABEL_HEIGHT = 16;

const rect = (x: number, y: number, size: { readonly width: number; readonly height: number }): string =>
  `<rect x="${x}" y="${y}" width="${size.width}" height="${size.height}"/>`;

function drawLabel(label: number, left: number, top: number): string {
  const digits = String(label)
    .split("")
    .map((digit) => DIGITS[Number(digit)] ?? []);
  const dots = digits.flatMap((rows, position) =>
    rows.flatMap((row, y) =>
      row.split("").flatMap((dot, x) => {
        const at = { x: left + 4 + (position * 4 + x) * PIXEL, y: top + 3 + y * PIXEL };
        return dot === "#" ? [rect(at.x, at.y, { width: PIXEL, height: PIXEL })] : [];
      }),
    ),
  );
  const width = 8 + (digits.length * 4 - 1) * PIXEL;
  return `<g fill="black">${rect(left, top, { width, height: LABEL_HEIGHT })}</g><g fill="white">${dots.join("")}</g>`;
}

/** Draws a dashed black outline and a number for each mark onto a copy of a picture; gives the PNG. */
export async function drawMarks(picture: string | Uint8Array, boxes: readonly (readonly Box[])[]): Promise<Buffer> {
  const image = sharp(picture);
  const { width, height } = await image.metadata();
  const marks = boxes.flatMap((own, label) => own.map((box) => ({ ...box, label })));
  const outlines = marks.map((box) => rect(Math.round(box.left), Math.round(box.top), box)).join("");
  const labels = marks.map(({ label, left, top }) =>
    drawLabel(label, Math.round(left) + 2, Math.max(0, Math.round(top) - LABEL_HEIGHT)),
  );
  const overlay =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" shape-rendering="crispEdges">` +
    `<g fill="none" stroke="black" stroke-width="2" stroke-dasharray="4 3">${outlines}</g>${labels.join("")}</svg>`;
  return image
    .composite([{ input: Buffer.from(overlay) }])
    .removeAlpha()
    .png()
    .toBuffer();
}
