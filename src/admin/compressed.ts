/** Compresses answers, if the client takes that and it is worth it. */
import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** Smaller answers fit into one packet anyway. */
const SMALLEST = 1_400;
/** Far better than none, and a fraction of the time of the best. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const GZIP = { level: 4 };

export interface Encoded {
  readonly content: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Runs in a thread of its own, so others are served meanwhile. */
export async function compressed(content: Buffer, accepted: IncomingHttpHeaders): Promise<Encoded> {
  const given = String(accepted["accept-encoding"] ?? "");
  if (content.length < SMALLEST) return { content, headers: {} };
  const vary = { vary: "accept-encoding" };
  if (takes(given, "br"))
    return {
      content: await promisify(brotliCompress)(content, BROTLI),
      headers: { ...vary, "content-encoding": "br" },
    };
  if (takes(given, "gzip"))
    return {
      content: await promisify(gzip)(content, GZIP),
      headers: { ...vary, "content-encoding": "gzip" },
    };
  return { content, headers: vary };
}

/** `q=0` refuses an encoding. */
function takes(accepted: string, encoding: string): boolean {
  return accepted
    .split(",")
    .map((one) => one.trim().split(/\s*;\s*/))
    .some(([name, ...more]) => name === encoding && !more.some((text) => /^q=0(\.0*)?$/.test(text)));
}
