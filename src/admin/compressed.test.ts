import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { compressed } from "./compressed.ts";

const LARGE = Buffer.from(JSON.stringify(Array.from({ length: 500 }, (_, n) => ({ tool: `tool ${n}` }))));

test.each([
  ["gzip, deflate, br", "br", brotliDecompressSync],
  ["gzip", "gzip", gunzipSync],
  ["br;q=0, gzip;q=0.5", "gzip", gunzipSync],
])("takes the best that the client accepts: %s", async (accepted, encoding, open) => {
  const { content, headers } = await compressed(LARGE, { "accept-encoding": accepted });
  expect(headers["content-encoding"]).toBe(encoding);
  expect(content.length).toBeLessThan(LARGE.length / 4);
  expect(open(content)).toEqual(LARGE);
});

test("leaves small answers, and those of clients that take none", async () => {
  expect((await compressed(Buffer.from("{}"), { "accept-encoding": "br" })).headers).toEqual({});
  const { content, headers } = await compressed(LARGE, { "accept-encoding": "identity" });
  expect(content).toBe(LARGE);
  expect(headers["content-encoding"]).toBeUndefined();
});
