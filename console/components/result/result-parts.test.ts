import { describe, expect, it } from "vitest";
import { rootSpan } from "../json/json-text.ts";
import { flatRows } from "./flat-rows.ts";
import { readResult } from "./result-parts.ts";

const read = (result: unknown) => readResult(JSON.stringify(result));
const kinds = (result: unknown) => read(result).parts.map(({ kind }) => kind);

describe("readResult", () => {
  it("recognizes text, JSON, images, audio, links and files", () => {
    const { parts } = read({
      content: [
        { type: "text", text: "# Hello" },
        { type: "text", text: ' {"a":1}' },
        { type: "text", text: "[broken" },
        { type: "image", mimeType: "image/png", data: "AAAA" },
        { type: "audio", mimeType: "audio/wav", data: "AAA=" },
        { type: "resource_link", uri: "file:///a", name: "a", description: "A file." },
        { type: "resource", resource: { uri: "file:///b.txt", text: "b" } },
        { type: "resource", resource: { uri: "x://y/c.bin?z", blob: "AAAA", mimeType: "application/zip" } },
      ],
    });
    expect(parts).toEqual([
      { kind: "text", text: "# Hello" },
      { kind: "json", raw: ' {"a":1}', structured: false },
      { kind: "text", text: "[broken" },
      { kind: "image", type: "image/png", url: "data:image/png;base64,AAAA", bytes: 3 },
      { kind: "audio", type: "audio/wav", url: "data:audio/wav;base64,AAA=", bytes: 2 },
      { kind: "link", uri: "file:///a", name: "a", about: "A file." },
      { kind: "text", text: "b" },
      {
        kind: "file",
        name: "z",
        type: "application/zip",
        url: "data:application/octet-stream;base64,AAAA",
        bytes: 3,
      },
    ]);
  });

  it("creates no data: address for invalid image types or data", () => {
    expect(
      kinds({
        content: [
          { type: "image", mimeType: "text/html", data: "AAAA" },
          { type: "image", mimeType: "image/png;x,<script>", data: "AAAA" },
          { type: "image", mimeType: "image/png", data: "<script>" },
          { type: "hologram", data: "AAAA" },
          null,
        ],
      }),
    ).toEqual(["json", "json", "json", "json", "json"]);
  });

  it("returns the structured result once and keeps all digits", () => {
    const raw =
      '{"content":[{"type":"text","text":"{\\"id\\": 1}"},{"type":"text","text":"Done."}],"structuredContent":{"id":1}}';
    expect(readResult(raw).parts).toEqual([
      { kind: "text", text: "Done." },
      { kind: "json", raw: '{"id":1}', structured: true },
    ]);
    expect(readResult('{"content":[],"structuredContent":{"id":12345678901234567890}}').parts).toEqual([
      { kind: "json", raw: '{"id":12345678901234567890}', structured: true },
    ]);
  });

  it("returns JSON for anything that is not a tool result", () => {
    expect(kinds({ contents: [] })).toEqual(["json"]);
    expect(kinds([1])).toEqual(["json"]);
    expect(readResult("not json").parts).toEqual([{ kind: "json", raw: "not json", structured: false }]);
  });
});

describe("readResult of a failed call", () => {
  it("returns code, message and problems of a gateway error", () => {
    const { error, parts } = read({
      isError: true,
      content: [{ type: "text", text: "long words for a model" }],
      structuredContent: {
        error: {
          code: "validation_input",
          message: "The arguments do not fit.",
          retryable: false,
          details: { problems: ["owner must be string"] },
        },
      },
    });
    expect(parts).toEqual([]);
    expect(error).toEqual({
      code: "validation_input",
      text: "The arguments do not fit.",
      hint: undefined,
      retryAfterMs: undefined,
      problems: ["owner must be string"],
    });
  });

  it("returns whether a retry is safe, now or later", () => {
    const hint = (error: object) =>
      read({
        isError: true,
        content: [],
        structuredContent: { error: { code: "x", message: "m", ...error } },
      }).error?.hint;
    expect(hint({ retryable: true })).toBe("retry");
    expect(hint({ retryable: true, retryAfterMs: 500 })).toBe("retryLater");
    expect(hint({ retryable: false })).toBeUndefined();
  });

  it("returns the texts of a tool error", () => {
    const { error, parts } = read({
      isError: true,
      content: [
        { type: "text", text: "No such repo." },
        { type: "text", text: "Look again." },
        { type: "image", mimeType: "image/png", data: "AAAA" },
      ],
      structuredContent: { error: "odd" },
    });
    expect(error).toMatchObject({ code: undefined, text: "No such repo.\n\nLook again." });
    expect(parts.map(({ kind }) => kind)).toEqual(["image", "json"]);
  });
});

describe("flatRows", () => {
  const rows = (value: unknown, text = JSON.stringify(value)) => {
    const root = rootSpan(text);
    return root && flatRows(text, root);
  };

  it("reads a list of flat objects with the columns of all items", () => {
    const found = rows(undefined, '[{"id":12345678901234567890,"name":"a"},{"id":2,"ok":true,"none":null}]');
    expect(found?.columns).toEqual(["id", "name", "ok", "none"]);
    expect([...(found?.numbers ?? [])]).toEqual(["id"]);
    expect(found?.rows.map(({ values }) => Object.fromEntries(values))).toEqual([
      { id: "12345678901234567890", name: "a" },
      { id: "2", ok: "true", none: "null" },
    ]);
  });

  it("returns undefined for any other value", () => {
    const wide = Object.fromEntries(Array.from({ length: 13 }, (_, at) => [`k${at}`, at]));
    for (const other of [
      [{ a: 1 }],
      [{ a: [] }, { a: 1 }],
      [1, 2],
      { a: 1 },
      [wide, wide],
      [{ a: "x".repeat(400) }, {}],
      [{}, {}],
    ])
      expect(rows(other)).toBeUndefined();
  });
});
