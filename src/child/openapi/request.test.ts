import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BodyPlan, ParameterPlan, Plan } from "./plan.ts";
import { requestOf } from "./request.ts";
import { headerText, pathText, queryPairs } from "./serialize.ts";
import type { Serialization, Style } from "./style.ts";

const NONE = { query: [], cookies: [] };

function parameter(
  name: string,
  place: ParameterPlan["in"],
  more: Partial<ParameterPlan> = {},
): ParameterPlan {
  const style = place === "path" || place === "header" ? "simple" : "form";
  const plain = { style, explode: style === "form", allowReserved: false, required: false } as const;
  return { argument: name, name, in: place, ...plain, ...more };
}

function plan(path: string, parameters: readonly ParameterPlan[], more: Partial<Plan> = {}): Plan {
  const base = "https://api.example.com/v1/";
  return { method: "POST", base, path, parameters, accept: "*/*", answer: "text", ...more };
}

function url(path: string, parameters: readonly ParameterPlan[], args: Record<string, unknown>): string {
  return requestOf(plan(path, parameters), args, NONE).url.href;
}

/** The examples of the OpenAPI specification. */
describe("styles", () => {
  const list = ["blue", "black"];
  const object = { R: 100, G: 200 };
  const how = (style: Style, explode: boolean): Serialization => ({ style, explode, allowReserved: false });
  const joined = (style: Style, explode: boolean, value: unknown): string =>
    queryPairs("color", value, how(style, explode))
      .map(([name, text]) => `${name}=${text}`)
      .join("&");

  test.each([
    ["simple", false, list, "blue,black"],
    ["simple", false, object, "R,100,G,200"],
    ["simple", true, object, "R=100,G=200"],
    ["label", false, "blue", ".blue"],
    ["label", false, list, ".blue,black"],
    ["label", true, list, ".blue.black"],
    ["label", true, object, ".R=100.G=200"],
    ["matrix", false, "blue", ";color=blue"],
    ["matrix", false, list, ";color=blue,black"],
    ["matrix", true, list, ";color=blue;color=black"],
    ["matrix", true, object, ";R=100;G=200"],
  ] as const)("%s, explode %s in a path: %j", (style, explode, value, text) => {
    expect(pathText("color", value, how(style, explode))).toBe(text);
  });

  test.each([
    ["form", true, list, "color=blue&color=black"],
    ["form", false, list, "color=blue,black"],
    ["form", true, object, "R=100&G=200"],
    ["form", false, object, "color=R,100,G,200"],
    ["spaceDelimited", false, list, "color=blue%20black"],
    ["pipeDelimited", false, list, "color=blue|black"],
    ["deepObject", true, { a: { b: 1 }, c: ["x"] }, "color[a][b]=1&color[c][]=x"],
    ["form", true, true, "color=true"],
    ["form", true, null, "color="],
  ] as const)("%s, explode %s in a query: %j", (style, explode, value, text) => {
    expect(joined(style, explode, value)).toBe(text);
  });

  test("headers, values in a media type, and reserved characters", () => {
    expect(headerText(object, how("simple", true))).toBe("R=100,G=200");
    expect(queryPairs("f", object, { ...how("form", true), content: "application/json" })).toEqual([
      ["f", "%7B%22R%22%3A100%2C%22G%22%3A200%7D"],
    ]);
    expect(queryPairs("q", "a/b?c&d=e#f", { ...how("form", true), allowReserved: true })).toEqual([
      ["q", "a/b?c%26d%3De%23f"],
    ]);
  });
});

describe("an argument cannot leave its operation", () => {
  const id = [parameter("id", "path", { required: true })];

  test.each([
    "..",
    ".",
    "../admin",
    "a/../../admin",
    "..%2fadmin",
    "%2e%2e/admin",
    "%252e%252e%252fadmin",
    "..\\admin",
    "..;/admin",
    "a/..",
  ])("%s in a path is refused", (value) => {
    expect(() => url("/users/{id}", id, { id: value })).toThrow(/id contains "\." or "\.\."/);
  });

  test("an empty or missing part of a path is refused", () => {
    expect(() => url("/users/{id}", id, { id: "" })).toThrow(/another operation/);
    expect(() => url("/users/{id}", id, {})).toThrow("id is missing");
    expect(() => url("/users/{id}", id, { id: [] })).toThrow(/another operation/);
  });

  test("names with dots, slashes and other characters are parts of a path", () => {
    expect(url("/c/{id}", id, { id: "main...v1.2" })).toBe("https://api.example.com/v1/c/main...v1.2");
    expect(url("/c/{id}", id, { id: "a/b?c#d e\u2028" })).toBe(
      "https://api.example.com/v1/c/a%2Fb%3Fc%23d%20e%E2%80%A8",
    );
  });

  test("whatever the arguments are, scheme, host, path and number of parts stay", () => {
    const parameters = [...id, parameter("q", "query"), parameter("d", "query", { style: "deepObject" })];
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.jsonValue(), (text, value) => {
        let made: URL;
        try {
          made = requestOf(plan("/users/{id}/posts", parameters), { id: text, q: value, d: value }, NONE).url;
        } catch {
          return;
        }
        expect(made.origin).toBe("https://api.example.com");
        expect(made.pathname.split("/")).toEqual(["", "v1", "users", expect.any(String), "posts"]);
        expect(new URL(made.href).href).toBe(made.href);
        expect(made.hash).toBe("");
      }),
    );
  });

  test("a path of the document cannot leave the address of the API", () => {
    for (const path of ["/../../admin", "/../v10/x", "/../v1", "/%2e%2e/v1-admin"])
      expect(() => url(path, [], {}), path).toThrow(/leads out/);
    expect(url("//evil.example/x", [], {})).toBe("https://api.example.com/v1//evil.example/x");
  });

  test("a query cannot add members, and keys of the config come last", () => {
    const made = requestOf(
      plan("/a", [parameter("q", "query")]),
      { q: "1&key=mine#x" },
      {
        query: [["key", "s&t"]],
        cookies: [],
      },
    );
    expect(made.url.search).toBe("?q=1%26key%3Dmine%23x&key=s%26t");
  });
});

describe("headers and cookies", () => {
  test.each(["a\r\nX-Admin: 1", "a\nb", "a\0b", "\u{1f600}"])("%j cannot be in a header", (value) => {
    const asked = () => requestOf(plan("/a", [parameter("X-Id", "header")]), { "X-Id": value }, NONE);
    expect(asked).toThrow(/X-Id contains a character/);
  });

  test("a cookie cannot add another", () => {
    const { headers } = requestOf(
      plan("/a", [parameter("c", "cookie")]),
      { c: "1; session=admin\r\n" },
      {
        query: [],
        cookies: ["session=own"],
      },
    );
    expect(headers["cookie"]).toBe("session=own; c=1%3B%20session%3Dadmin%0D%0A");
  });
});

describe("bodies", () => {
  const written = (
    body: Partial<BodyPlan>,
    args: Record<string, unknown>,
    parameters: readonly ParameterPlan[] = [],
  ) => {
    const whole = { kind: "json", type: "application/json", required: false, encoding: {}, ...body } as const;
    const made = requestOf(plan("/a", parameters, { body: whole }), args, NONE).body;
    return made && { type: made.type, text: Buffer.concat(made.bytes).toString() };
  };

  test("JSON: all arguments that are no parameters, or one", () => {
    expect(written({}, { q: 1, a: 2 }, [parameter("q", "query")])).toEqual({
      type: "application/json",
      text: '{"a":2}',
    });
    expect(written({ argument: "body" }, { body: [1] })?.text).toBe("[1]");
    expect(written({}, { q: 1 }, [parameter("q", "query")])).toBeUndefined();
    expect(written({ required: true }, {})?.text).toBe("{}");
    expect(() => written({ argument: "body", required: true }, {})).toThrow("body is missing");
  });

  test("forms", () => {
    const type = "application/x-www-form-urlencoded";
    const args = { a: "x y&z", list: [1, 2], o: { b: { c: 1 } }, j: { k: 1 } };
    expect(
      written({ kind: "form", type, encoding: { j: { contentType: "application/json" } } }, args),
    ).toEqual({
      type,
      text: "a=x%20y%26z&list=1&list=2&o[b][c]=1&j=%7B%22k%22%3A1%7D",
    });
  });

  test("forms with files, whose names cannot add headers", () => {
    const file = { base64: "AAEC", name: 'a"\r\nX: 1.png', type: "image/png\r\nX: 1" };
    const made = written(
      {
        kind: "multipart",
        type: "multipart/form-data",
        encoding: { file: { contentType: "image/png, image/gif" } },
      },
      { file, note: "hi", meta: { a: 1 } },
    );
    const [, boundary = ""] = /boundary=(.*)$/.exec(made?.type ?? "") ?? [];
    expect(made?.text.split(`--${boundary}`).map((part) => part.split("\r\n").filter(Boolean))).toEqual([
      [],
      [
        'Content-Disposition: form-data; name="file"; filename="a%22%0D%0AX: 1.png"',
        "Content-Type: image/png",
        "\0\u0001\u0002",
      ],
      ['Content-Disposition: form-data; name="note"', "hi"],
      ['Content-Disposition: form-data; name="meta"', "Content-Type: application/json", '{"a":1}'],
      ["--"],
    ]);
  });

  test("text and bytes", () => {
    expect(written({ kind: "text", type: "text/plain", argument: "body" }, { body: "hi" })?.text).toBe("hi");
    const bytes = { kind: "binary", type: "application/octet-stream", argument: "body" } as const;
    expect(written(bytes, { body: { base64: "aGk=" } })?.text).toBe("hi");
    expect(written(bytes, { body: { text: "hi", type: "text/css" } })).toEqual({
      type: "text/css",
      text: "hi",
    });
    expect(() => written(bytes, { body: { base64: "not base64!" } })).toThrow(/body must be/);
  });
});
