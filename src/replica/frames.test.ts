import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeFrame, type Frame, FrameReader } from "./frames.ts";

const frame = fc.record({
  kind: fc.integer({ min: 0, max: 255 }),
  request: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  content: fc.array(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    { maxLength: 3 },
  ),
});

const cut = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 });

test("frames arrive whole and in order, however their bytes are cut", () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), cut, (frames, cuts) => {
      const bytes = Buffer.concat(
        frames.flatMap(({ kind, request, content }) => encodeFrame(kind, request, content)),
      );
      const got: Frame[] = [];
      const reader = new FrameReader(1_000, (one) => got.push(one));
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = cuts[turn % cuts.length] as number;
        reader.push(bytes.subarray(at, at + size));
        at += size;
      }
      const whole = frames.map(({ content, ...rest }) => ({ ...rest, content: Buffer.concat(content) }));
      expect(got).toEqual(whole);
    }),
  );
});

test("what is no frame is refused before it is waited for", () => {
  const push = (bytes: Buffer) => new FrameReader(1_000, () => {}).push(bytes);
  expect(() => push(Buffer.from("GET / HTTP/1.1\r\n"))).toThrow("a frame of");
  expect(() => push(Buffer.alloc(9))).toThrow("a frame of");
  expect(() => push(encodeFrame(1, 1, [Buffer.alloc(1_000)])[0] as Buffer)).toThrow("a frame of");
});
