import { parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { EvowebError, messageOf } from "../errors.ts";

const SIGN = "PAR1";

/** Whether these bytes are a Parquet file. */
export function isParquet(bytes: Buffer): boolean {
  return bytes.toString("latin1", 0, SIGN.length) === SIGN;
}

/**
 * The rows of a Parquet file as JSON data, whatever its compression. 64-bit integers are never rounded: one that a number cannot
 * hold is given as its digits in a string. Dates are ISO text, bytes are base64.
 *
 * @throws EvowebError `dataset` when the file is broken or cut.
 */
export async function readParquet(file: string, bytes: Buffer): Promise<readonly unknown[]> {
  const copy = new Uint8Array(bytes).buffer;
  try {
    const rows: readonly unknown[] = await parquetReadObjects({ file: copy, compressors });
    return rows.map(plain);
  } catch (error) {
    throw new EvowebError("dataset", `${file} is a Parquet file that cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") {
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value.toString();
  }
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.map(([key, part]) => [key, plain(part)]));
}
