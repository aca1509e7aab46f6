import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { compile } from "./compile.ts";
import { readDocuments } from "./read-documents.ts";

const ROOT = "https://api.example.com/v1/openapi.json";

interface ToolView {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: { readonly properties: Record<string, unknown>; readonly [word: string]: unknown };
  readonly outputSchema?: Record<string, unknown>;
  readonly annotations: Record<string, unknown>;
}

interface Given {
  readonly baseUrl?: string;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly fixed?: readonly string[];
  /** Other documents, by address. */
  readonly others?: Readonly<Record<string, string>>;
}

async function made(document: object | string, { others = {}, deny = [], fixed = [], ...more }: Given = {}) {
  const texts: Record<string, string> = {
    ...others,
    [ROOT]: typeof document === "string" ? document : JSON.stringify(document),
  };
  const read = await readDocuments(ROOT, async (uri) => {
    const text = texts[uri];
    if (text === undefined) throw new Error(`${uri} may not be read`);
    return text;
  });
  const compiled = compile(read, { baseUrl: more.baseUrl, allow: more.allow, deny, fixed });
  const tools = compiled.pages.flatMap((page) => JSON.parse(page) as ToolView[]);
  const plans = new Map(
    compiled.plans.map(([name, plan]) => [name, JSON.parse(plan) as Record<string, unknown>]),
  );
  return {
    ...compiled,
    tools,
    plans,
    tool: (name: string) => tools.find((one) => one.name === name) as ToolView,
  };
}

function api(paths: object, more: object = {}) {
  return { openapi: "3.1.0", info: { title: "T", version: "1" }, paths, ...more };
}

function get(operation: object = {}) {
  return { get: { operationId: "a", ...operation } };
}

function query(name: string, schema: object = {}, more: object = {}) {
  return { name, in: "query", schema, ...more };
}

describe("versions", () => {
  test.each(["3.0.3", "3.1.1", "3.2.0"])("OpenAPI %s is read", async (openapi) => {
    expect((await made({ ...api({ "/a": get() }), openapi })).tools).toHaveLength(1);
  });

  test.each([
    ["4.0.0", /version is 4.0.0/],
    ["2.9", /version is 2.9/],
  ])("OpenAPI %s is refused", async (openapi, why) => {
    await expect(made({ ...api({}), openapi })).rejects.toThrow(why);
  });

  test("Swagger 2: body, form, lists and the parts of the address", async () => {
    const { tool, plans } = await made({
      swagger: "2.0",
      host: "api.example.com",
      basePath: "/v2",
      schemes: ["http", "https"],
      consumes: ["application/json"],
      parameters: { limit: { name: "limit", in: "query", type: "integer", maximum: 9 } },
      definitions: { Pet: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
      paths: {
        "/pets": {
          get: {
            operationId: "list",
            parameters: [
              { $ref: "#/parameters/limit" },
              {
                name: "tags",
                in: "query",
                type: "array",
                items: { type: "string" },
                collectionFormat: "pipes",
              },
            ],
            responses: {
              200: { description: "", schema: { type: "array", items: { $ref: "#/definitions/Pet" } } },
            },
          },
          post: {
            operationId: "add",
            parameters: [{ name: "pet", in: "body", required: true, schema: { $ref: "#/definitions/Pet" } }],
          },
        },
        "/photos": {
          post: {
            operationId: "photo",
            consumes: ["multipart/form-data"],
            parameters: [
              { name: "file", in: "formData", type: "file", required: true },
              { name: "note", in: "formData", type: "string" },
            ],
          },
        },
      },
    });
    expect(tool("list").inputSchema).toEqual({
      type: "object",
      properties: {
        limit: { type: "integer", maximum: 9 },
        tags: { type: "array", items: { type: "string" } },
      },
      additionalProperties: false,
    });
    expect(plans.get("list")).toMatchObject({
      base: "https://api.example.com/v2",
      answer: "wrapped",
      parameters: [{ style: "form" }, { style: "pipeDelimited" }],
    });
    expect(tool("add").inputSchema).toMatchObject({ properties: { name: {} }, required: ["name"] });
    expect(plans.get("photo")).toMatchObject({ body: { kind: "multipart", required: true } });
    expect(tool("photo").inputSchema.properties["file"]).toMatchObject({ properties: { base64: {} } });
  });

  test("YAML, with merge keys and codes that are numbers", async () => {
    const { tool } = await made(
      [
        "openapi: 3.0.0",
        "info: {title: T, version: 1.0.0}",
        "x-id: &id {name: id, in: path, required: true, schema: {type: integer}}",
        "paths:",
        "  /a/{id}:",
        "    get:",
        "      parameters: [{<<: *id, description: the id}]",
        "      responses: {200: {description: ok, content: {application/json: {schema: {type: object, properties: {b: {type: string}}}}}}}",
      ].join("\n"),
    );
    expect(tool("get_a_by_id").inputSchema).toMatchObject({
      properties: { id: { type: "integer", description: "the id" } },
      required: ["id"],
    });
    expect(tool("get_a_by_id").outputSchema).toMatchObject({
      properties: { b: { type: ["string", "null"] } },
    });
  });

  test("3.2: the method QUERY, and methods without a word of their own", async () => {
    const { tools } = await made({
      ...api({ "/a": { query: { operationId: "q" }, additionalOperations: { COPY: { operationId: "c" } } } }),
      openapi: "3.2.0",
    });
    expect(tools.map(({ name, annotations }) => [name, annotations["readOnlyHint"]])).toEqual([
      ["q", true],
      ["c", false],
    ]);
  });

  test("words of 3.0 become those of JSON Schema", async () => {
    const { tool } = await made({
      ...api({
        "/a": get({
          parameters: [
            query("n", { type: "integer", minimum: 0, exclusiveMinimum: true, nullable: true, example: 3 }),
            query("e", { type: "string", enum: ["x"], nullable: true, xml: {}, "x-own": 1 }),
          ],
        }),
      }),
      openapi: "3.0.1",
    });
    expect(tool("a").inputSchema.properties).toEqual({
      n: { type: ["integer", "null"], exclusiveMinimum: 0 },
      e: { type: ["string", "null"], enum: ["x", null] },
    });
  });
});

describe("patterns", () => {
  test("that are none for JSON Schema are left out, and others stay", async () => {
    const parameters = [
      query("old", { type: "string", pattern: "^[a\\-z]\\_$" }),
      query("broken", { type: "string", pattern: "(" }),
      query("good", { type: "string", pattern: "^\\d{4}$" }),
      query("map", { type: "object", patternProperties: { "\\-": {}, "^x-": {} } }),
    ];
    const { tool } = await made(api({ "/a": get({ parameters }) }));
    expect(tool("a").inputSchema.properties).toEqual({
      old: { type: "string" },
      broken: { type: "string" },
      good: { type: "string", pattern: "^\\d{4}$" },
      map: { type: "object", patternProperties: { "^x-": {} } },
    });
  });
});

describe("references", () => {
  test("within and between documents, in circles too, become $defs", async () => {
    const { tool } = await made(
      api({ "/a": { $ref: "paths.yaml#/a" } }, { components: { schemas: { Own: { type: "string" } } } }),
      {
        others: {
          "https://api.example.com/v1/paths.yaml":
            'a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {$ref: "schemas.json#/Node"}}}}}}',
          "https://api.example.com/v1/schemas.json": JSON.stringify({
            Node: {
              type: "object",
              properties: {
                next: { $ref: "#/Node" },
                leaf: { $ref: "#/Leaf" },
                own: { $ref: "openapi.json#/components/schemas/Own" },
              },
            },
            Leaf: { type: "object", properties: { up: { $ref: "#/Node" }, self: { $ref: "#/Leaf" } } },
          }),
        },
      },
    );
    expect(tool("a").inputSchema).toEqual({
      type: "object",
      properties: { next: { $ref: "#" }, leaf: { $ref: "#/$defs/Leaf" }, own: { $ref: "#/$defs/Own" } },
      $defs: {
        Leaf: { type: "object", properties: { up: { $ref: "#" }, self: { $ref: "#/$defs/Leaf" } } },
        Own: { type: "string" },
      },
    });
  });

  test("a document that may not be read: its operations are left out with the reason and the place", async () => {
    const { tools, leftOut } = await made(
      api({
        "/a": get(),
        "/b": { $ref: "https://evil.example/x.json#/b" },
        "/c": { get: { parameters: [{ $ref: "file:///etc/passwd" }] } },
      }),
    );
    expect(tools.map(({ name }) => name)).toEqual(["a"]);
    expect(leftOut).toHaveLength(2);
    expect(leftOut[0]).toMatch(
      /"https:\/\/evil\.example\/x\.json#\/b" cannot be used: .*\(at #\/paths\/~1b in/,
    );
    expect(leftOut[1]).toMatch(/passwd.*\(at #\/paths\/~1c\/get\/parameters\/0 in/);
  });

  test("a reference to itself, to nothing, or to a member that only objects of JavaScript have", async () => {
    const { tools, leftOut } = await made(
      api({
        "/a": get(),
        "/b": { $ref: "#/paths/~1b" },
        "/c": { $ref: "#/no/such" },
        "/d": { $ref: "#/constructor/prototype" },
      }),
    );
    expect(tools).toHaveLength(1);
    expect(leftOut[0]).toMatch(/leads back to itself \(at #\/paths\/~1b/);
    expect(leftOut[1]).toMatch(/"#\/no\/such" leads nowhere/);
    expect(leftOut[2]).toMatch(/leads nowhere/);
  });
});

describe("names", () => {
  test("depend on their own operation only, and are unique", async () => {
    const paths = {
      "/u/{id}": { get: {}, delete: {} },
      "/x": get({ operationId: "Same" }),
      "/y": get({ operationId: "same" }),
      "/long": get({ operationId: "n".repeat(200) }),
      "/odd": get({ operationId: "ü/../‮ <script>" }),
    };
    const path = { parameters: [{ name: "id", in: "path", required: true, schema: {} }] };
    Object.assign(paths["/u/{id}"], path);
    const names = (await made(api(paths))).tools.map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(["get_u_by_id", "delete_u_by_id"]);
    for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(6);

    const turned = Object.fromEntries(Object.entries(paths).toReversed());
    expect((await made(api(turned))).tools.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });

  test("operations are chosen by name, id, or method and path", async () => {
    const paths = {
      "/a": get({ operationId: "x/a" }),
      "/b": get({ operationId: "b" }),
      "/c": { delete: {} },
    };
    const names = async (given: Given) => (await made(api(paths), given)).tools.map(({ name }) => name);
    expect(await names({ allow: ["x/*"] })).toEqual(["x_a"]);
    expect(await names({ allow: ["x_a", "GET /b"] })).toEqual(["x_a", "b"]);
    expect(await names({ deny: ["DELETE *"] })).toEqual(["x_a", "b"]);
    expect(await names({ allow: [] })).toEqual([]);
  });
});

describe("one schema for parameters and body", () => {
  const body = (schema: object, more: object = {}) => ({
    requestBody: { content: { "application/json": { schema } }, ...more },
  });

  test("the same name in several places", async () => {
    const { tool, plans } = await made(
      api({
        "/a/{id}": {
          post: {
            operationId: "a",
            parameters: [
              query("id"),
              { name: "id", in: "path", required: true, schema: {} },
              { name: "id", in: "header", schema: {} },
              { name: "id", in: "cookie", schema: {} },
            ],
            ...body({ type: "object", properties: { id: {} }, required: ["id"] }, { required: true }),
          },
        },
      }),
    );
    expect(Object.keys(tool("a").inputSchema.properties)).toEqual([
      "id",
      "id_query",
      "id_header",
      "id_cookie",
      "body",
    ]);
    expect(tool("a").inputSchema["required"]).toEqual(["id", "body"]);
    expect(plans.get("a")).toMatchObject({ body: { argument: "body" } });
  });

  test("members of a plain body are arguments, other bodies are one", async () => {
    const properties = { b: { type: "string" } };
    const { tool } = await made(
      api({
        "/flat": {
          post: { operationId: "flat", parameters: [query("q")], ...body({ type: "object", properties }) },
        },
        "/any": {
          post: { operationId: "any", parameters: [query("q")], ...body({ anyOf: [{ type: "object" }] }) },
        },
        "/list": { post: { operationId: "list", ...body({ type: "array" }, { required: true }) } },
      }),
    );
    expect(Object.keys(tool("flat").inputSchema.properties)).toEqual(["q", "b"]);
    expect(Object.keys(tool("any").inputSchema.properties)).toEqual(["q", "body"]);
    expect(tool("list").inputSchema).toMatchObject({
      properties: { body: { type: "array" } },
      required: ["body"],
    });
  });

  test("read-only members are not sent, write-only ones do not come back", async () => {
    const schema = {
      type: "object",
      required: ["id", "secret"],
      properties: { id: { readOnly: true }, secret: { writeOnly: true }, name: {} },
    };
    const { tool } = await made(
      api({
        "/a": {
          post: {
            operationId: "a",
            ...body(schema),
            responses: { 201: { content: { "application/json": { schema } } } },
          },
        },
      }),
    );
    expect(Object.keys(tool("a").inputSchema.properties)).toEqual(["secret", "name"]);
    expect(tool("a").inputSchema["required"]).toEqual(["secret"]);
    expect(tool("a").outputSchema).toEqual({ type: "object", properties: { id: {}, name: {} } });
  });

  test("headers that decide about the request, and what the config sets, are no arguments", async () => {
    const header = (name: string) => ({ name, in: "header", schema: {} });
    const parameters = [
      ...[
        "Authorization",
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "Cookie",
        "X-Forwarded-For",
        "a\r\nb: c",
      ].map(header),
      header("X-Api-Key"),
      query("token"),
      header("X-Trace"),
      { name: "bad name", in: "cookie", schema: {} },
    ];
    const { tool } = await made(api({ "/a": get({ parameters }) }), { fixed: ["x-api-key", "token"] });
    expect(Object.keys(tool("a").inputSchema.properties)).toEqual(["X-Trace"]);
  });

  test("a parameter of the path that is not described leaves the operation out", async () => {
    const { leftOut } = await made(api({ "/ok": get(), "/a/{id}": get({ operationId: "b" }) }));
    expect(leftOut).toEqual([
      expect.stringContaining('"id" of the path is not described (at #/paths/~1a~1{id}/get'),
    ]);
  });
});

describe("texts and hints", () => {
  test("come from the document, within limits", async () => {
    const { tool, title, instructions } = await made({
      ...api({ "/a": get({ summary: "Short", description: "d".repeat(9_000), deprecated: true }) }),
      info: { title: "t".repeat(900), version: "1", description: "First.\n\nSecond." },
    });
    expect(tool("a").title).toBe("Short");
    expect(tool("a").description).toMatch(/^Deprecated\. Short\n\nd{100}/);
    expect(tool("a").description.length).toBeLessThan(2_050);
    expect(title).toHaveLength(200);
    expect(instructions).toBe("First.");
  });

  test("annotations follow from the method", async () => {
    const methods = ["get", "put", "post", "delete", "patch", "head"];
    const { tools } = await made(
      api({ "/a": Object.fromEntries(methods.map((one) => [one, { operationId: one }])) }),
    );
    const hints = tools.map(({ name, annotations }) => [
      name,
      annotations["readOnlyHint"],
      annotations["idempotentHint"],
    ]);
    expect(hints).toEqual([
      ["get", true, undefined],
      ["put", false, true],
      ["post", false, false],
      ["delete", false, true],
      ["patch", false, false],
      ["head", true, undefined],
    ]);
  });
});

describe("the address of the API", () => {
  test.each([
    ["a path", [{ url: "/v2" }], "https://api.example.com/v2"],
    ["none", undefined, "https://api.example.com/"],
    [
      "with variables",
      [
        {
          url: "https://{host}.example.com/{v}",
          variables: { host: { default: "api" }, v: { default: "v3" } },
        },
      ],
      "https://api.example.com/v3",
    ],
    [
      "the one on the host of the document",
      [{ url: "https://eu.example" }, { url: "/eu" }],
      "https://api.example.com/eu",
    ],
  ])("in the document: %s", async (_, servers, url) => {
    expect((await made(api({ "/a": get() }, { servers }))).base).toEqual({ url });
  });

  test("on another host must be in the config", async () => {
    const document = api({ "/a": get() }, { servers: [{ url: "http://169.254.169.254/latest" }] });
    expect((await made(document)).base).toEqual({
      url: undefined,
      elsewhere: "http://169.254.169.254/latest",
    });
    expect((await made(document, { baseUrl: "https://own.example/api" })).plans.get("a")).toMatchObject({
      base: "https://own.example/api",
    });
  });

  test("operations on another host are left out", async () => {
    const { tools, leftOut } = await made(
      api({
        "/a": get({ servers: [{ url: "https://uploads.example" }] }),
        "/b": get({ operationId: "b", servers: [{ url: "/beta" }] }),
      }),
    );
    expect(tools.map(({ name }) => name)).toEqual(["b"]);
    expect(leftOut[0]).toContain("https://uploads.example");
  });
});

describe("a broken document names the place", () => {
  test.each([
    ["JSON", '{\n "openapi": "3.1.0",\n "paths": {,}\n}', /not valid JSON.*\(line 3, column \d+ in https:/],
    ["YAML", "openapi: 3.1.0\npaths:\n  - a: [\n", /not valid YAML.*\(line \d+, column \d+ in/],
    ["no document", '{"a": 1}', /neither "openapi" nor "swagger".*\(at # in/],
    ["AsyncAPI", "asyncapi: 2.0.0", /AsyncAPI/],
    ["a page", "\n<!doctype html>\n<html>a: [</html>", /a web page or XML: write the address/],
    [
      "a path that is none",
      JSON.stringify(api({ "/a": 17 })),
      /a path must be an object \(at #\/paths\/~1a in [^(]*\)$/,
    ],
    ["a list", "[]", /neither "openapi"/],
    ["null", "null", /neither "openapi"/],
    [
      "no operation that can be used",
      JSON.stringify(api({ "/a": { get: { parameters: [{ name: "x" }] } } })),
      /none of its operations .* a parameter needs "name" and "in" \(at #\/paths\/~1a\/get\/parameters\/0/,
    ],
  ])("%s", async (_, text, why) => {
    await expect(made(text)).rejects.toThrow(why);
  });
});

describe("bombs", () => {
  const schemaOf = (schema: object, schemas: object = {}) =>
    made(
      api(
        {
          "/a": { post: { operationId: "a", requestBody: { content: { "application/json": { schema } } } } },
        },
        { components: { schemas } },
      ),
    );

  test("a schema that doubles with each reference stays small", async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => {
        const next = { $ref: `#/components/schemas/S${n + 1}` };
        return [`S${n}`, { type: "object", properties: { a: next, b: next, c: { allOf: [next, next] } } }];
      }),
    );
    const { tool } = await schemaOf({ $ref: "#/components/schemas/S0" }, schemas);
    expect(JSON.stringify(tool("a").inputSchema).length).toBeLessThan(60_000);
  });

  test("a schema that is cut anywhere is still a schema", async () => {
    const names = Array.from({ length: 5_000 }, (_, n) => `${"p".repeat(n % 37)}${n}`);
    const properties = Object.fromEntries(names.map((name) => [name, { allOf: [{ type: "string" }] }]));
    const content = { "application/json": { schema: { type: "object", properties } } };
    const responses = { 200: { description: "", content } };
    const { tool } = await made(api({ "/a": get({ responses }) }));
    const { outputSchema } = tool("a");
    expect(JSON.stringify(outputSchema)).not.toMatch(/"(?:all|any|one)Of":\[\]/);
    new Ajv2020({ strict: false, validateFormats: false }).compile(outputSchema as object);
  });

  test("an empty list of alternatives is left out", async () => {
    const parameters = [query("p", { type: "string", allOf: [] })];
    const { tool } = await made(api({ "/a": get({ parameters }) }));
    expect(tool("a").inputSchema.properties).toEqual({ p: { type: "string" } });
  });

  test("deep and wide schemas stay small, and what is left out is open", async () => {
    let deep: object = { type: "string" };
    for (let n = 0; n < 2_000; n++) deep = { type: "object", properties: { a: deep } };
    expect(JSON.stringify((await schemaOf(deep)).tool("a").inputSchema).length).toBeLessThan(5_000);

    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`p${n}`, { type: "string" }]));
    const { inputSchema } = (await schemaOf({ type: "object", properties: wide })).tool("a");
    expect(JSON.stringify(inputSchema).length).toBeLessThan(60_000);
    const choices = Array.from({ length: 5_000 }, (_, n) => ({ const: `${n}` }));
    const open = (await schemaOf({ type: "object", properties: { x: { anyOf: choices } } })).tool("a");
    expect(open.inputSchema.properties["x"]).toEqual({});
  });

  test("YAML that repeats itself is refused", async () => {
    const lines = Array.from(
      { length: 12 },
      (_, n) => `x${n + 1}: &x${n + 1} [${Array(12).fill(`*x${n}`).join()}]`,
    );
    const laughs = `openapi: 3.1.0\nx0: &x0 [lol]\n${lines.join("\n")}\npaths: {}\n`;
    await expect(made(laughs)).rejects.toThrow(/repeats parts of itself/);
  });

  test("names of JavaScript are names like others", async () => {
    const text = JSON.stringify(
      api({ "/a": get({ parameters: [query("constructor"), query("toString")] }) }),
    ).replace('"constructor"', '"__proto__"');
    const { tool } = await made(text);
    expect(Object.keys(tool("a").inputSchema.properties)).toEqual(["proto", "toString"]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
