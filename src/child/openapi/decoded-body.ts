/** Reads a body up to a maximum size, also if the API compresses it although it was asked not to. */
import type { IncomingMessage } from "node:http";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { codeOf } from "../../home/file.ts";
import { type Body, readBody } from "../http/body.ts";

type Decoder = (
  bytes: Buffer,
  options: { readonly maxOutputLength: number },
  done: (error: Error | null, plain: Buffer) => void,
) => void;

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", inflate],
  ["br", brotliDecompress],
]);

/** The message goes on after what sent the body. */
export class Undecodable extends Error {}

/** `done` is called once. The maximum is that of the decoded body too. */
export function readDecoded(response: IncomingMessage, maxBytes: number, done: (body: Body) => void): void {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  readBody(response, maxBytes, (body) => {
    if (!Buffer.isBuffer(body) || body.length === 0 || encoding === "identity") return done(body);
    const decode = DECODERS.get(encoding);
    if (!decode) return done(new Undecodable(`is encoded as ${encoding.slice(0, 40)}`));
    decode(body, { maxOutputLength: maxBytes }, (error, plain) => {
      if (!error) done(plain);
      else if (codeOf(error) === "ERR_BUFFER_TOO_LARGE") done("too-large");
      else done(new Undecodable(`is said to be encoded as ${encoding}, and is not`));
    });
  });
}
