import sharp from "sharp";

/** A file to upload, as Playwright takes it. */
interface UploadFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

const textFile = (name: string, mimeType: string, text: string): UploadFile => ({
  name,
  mimeType,
  buffer: Buffer.from(text),
});

async function imageFile(): Promise<UploadFile> {
  const picture = sharp({ create: { width: 64, height: 48, channels: 3, background: { r: 30, g: 120, b: 200 } } });
  return { name: "sample.png", mimeType: "image/png", buffer: await picture.png().toBuffer() };
}

/** The files that the explorer may upload; nothing of the host is ever offered to a page. */
export const UPLOADS = {
  text: async () => textFile("sample.txt", "text/plain", "Sample text for an upload.\nSecond line.\n"),
  csv: async () => textFile("sample.csv", "text/csv", "name,amount\nApples,3\nPears,5\n"),
  json: async () => textFile("sample.json", "application/json", '[{"name": "Apples", "amount": 3}]\n'),
  image: imageFile,
} as const;
