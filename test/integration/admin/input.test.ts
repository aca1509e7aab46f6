/**
 * Invalid input at every route that changes something: it is answered with a problem that names the place,
 * and nothing changes.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { adminRoutes } from "../../../src/admin/routes/all.ts";
import { rawHttp } from "../../support/raw-http.ts";
import { type ApiResponse, type TestAdmin, testAdmin } from "../../support/test-control.ts";

const ROUTES = adminRoutes({} as never);
/** The admin token cannot use login routes and personal routes. */
const PERSONAL = ["login", "me"];
const WRITES = ROUTES.filter(({ method, body, tag }) => method !== "GET" && body && !PERSONAL.includes(tag));

async function adminWithObjects(): Promise<TestAdmin> {
  const admin = await testAdmin({ a: ["read", "write"] });
  await admin.ask("POST", "/mcp-servers", { name: "a", command: "x", env: { K: "v" } });
  await admin.ask("POST", "/namespaces", { name: "a", servers: [{ server: "a" }] });
  await admin.ask("POST", "/endpoints", { name: "a", namespaces: ["a"] });
  return admin;
}

const target = (path: string): string => path.replace(":uuid", "a").replace(":n", "1");

function expectProblem({ status, headers, body }: ApiResponse): void {
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(body).toMatchObject({
    status,
    title: expect.any(String) as string,
    detail: expect.any(String) as string,
  });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
}

const ODD_TEXT = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "\ud800",
    "a\udc00b",
    "\u0000",
    "a/b",
    "a:b",
    " ",
    "__proto__",
    "constructor",
    "x".repeat(300),
  ),
);
const JUNK = fc.oneof(
  fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }),
  ODD_TEXT,
  fc.constantFrom(null, true, -1, 1e308, [], {}, [[]], [null]),
);
/** A key that no object has. */
const UNKNOWN_KEY = ODD_TEXT.map((text) => `zz${text}`);

test("every route rejects an unknown field with any value", async () => {
  const { ask, control } = await adminWithObjects();
  const before = control.revision;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...WRITES), UNKNOWN_KEY, JUNK, async ({ method, path }, key, value) => {
      // A file of another client may have unknown keys on every level except inside a server.
      const body = path.endsWith("/mcp-servers/import")
        ? { mcpServers: { b: { [key]: value } } }
        : { [key]: value };
      const answer = await ask(method, target(path), body);
      expectProblem(answer);
      expect(answer.status).toBe(422);
      expect((answer.body["errors"] as unknown as object[]).length).toBeGreaterThan(0);
      expect(control.revision).toBe(before);
    }),
    { numRuns: 150 },
  );
});

const FIELDS = [
  "name",
  "command",
  "args",
  "env",
  "headers",
  "url",
  "tools",
  "servers",
  "namespaces",
  "access",
  "limits",
  "middleware",
  "surface",
  "newTools",
  "labels",
  "instances",
  "document",
  "keys",
  "mcpServers",
  "endpoints",
  "uuid",
  "revision",
  "description",
  "source",
  "oauth",
  "lifecycle",
] as const;

test("every body gets an answer, rejections name a place, and rejected changes have no effect", async () => {
  const { ask, control } = await adminWithObjects();
  const field = fc.constantFrom(...FIELDS);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...WRITES),
      fc.dictionary(field, JUNK, { maxKeys: 4 }),
      async (route, body) => {
        const before = control.compiled.objects;
        const query = "dryRun" in (route.query ?? {}) ? "?dryRun=true" : "";
        const dry = await ask(route.method, target(route.path) + query, body);
        expect(control.compiled.objects).toBe(before);
        if (dry.status === 200) return;
        expectProblem(dry);
        const real = await ask(route.method, target(route.path), body);
        expect([real.status, real.body]).toEqual([dry.status, dry.body]);
        expect(control.compiled.objects).toBe(before);
        for (const { path } of (real.body["errors"] ?? []) as unknown as { path: string }[])
          expect(path).toMatch(/^(\/|$)/);
      },
    ),
    { numRuns: 200 },
  );
});

test.each([
  ["a name that is taken in another case", { name: "A", command: "x" }, 409, "/name"],
  ["a lone surrogate", '{"name":"\\ud800","command":"x"}', 422, "/name"],
  ["a lone surrogate in a nested value", '{"name":"b","command":"x","env":{"K":"\\udc00"}}', 422, "/env/K"],
  ["a lone surrogate in a key", '{"name":"b","command":"x","env":{"\\udc00":"v"}}', 422, "/env/\ufffd"],
  ["a wrong type", { name: "b", command: ["x"] }, 422, "/command"],
  [
    "a masked secret where none is stored",
    { name: "b", command: "x", env: { K: "********" } },
    422,
    "/env/K",
  ],
  ["a read-only field", { name: "b", command: "x", revision: 9 }, 422, "/revision"],
  ["a name with a slash", { name: "b/c", command: "x" }, 422, "/name"],
  ["a name like a uuid", { name: "00000000-0000-7000-8000-000000000000", command: "x" }, 422, "/name"],
  ["an array as its body", [], 422, ""],
  ["no body", undefined, 422, ""],
])("a server with %s is rejected", async (_, body, status, path) => {
  const { ask, control } = await adminWithObjects();
  const answer = await ask("POST", "/mcp-servers", body);
  expectProblem(answer);
  expect([answer.status, answer.body["errors"]]).toMatchObject([status, [{ path }]]);
  expect(control.revision).toBe(3);
});

test("names that are equal after Unicode normalization and case folding are the same name", async () => {
  const { ask } = await adminWithObjects();
  expect((await ask("POST", "/namespaces", { name: "caf\u00e9" })).status).toBe(201);
  for (const name of ["cafe\u0301", "CAF\u00c9", "CAFE\u0301"])
    expect((await ask("POST", "/namespaces", { name })).status).toBe(409);
  expect((await ask("GET", `/namespaces/${encodeURIComponent("cafe\u0301")}`)).status).toBe(200);
});

test.each([
  ["too large", JSON.stringify({ name: "b", description: "x".repeat(5 * 1024 * 1024) }), 413],
  ["nested too deeply", `{"name":"b","middleware":${"[".repeat(5000)}${"]".repeat(5000)}}`, 400],
  ["incomplete", '{"name":', 400],
])("a body that is %s is rejected", async (_, body, status) => {
  const { ask, control } = await adminWithObjects();
  for (const path of ["/mcp-servers", "/config/apply", "/api-keys"])
    expect((await ask("POST", path, body)).status).toBe(status);
  expect(control.revision).toBe(3);
});

const repeated = (text: string, times: number): string => Array<string>(times).fill(text).join(",");
const keys = (count: number): string => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(",");

test.each([
  ["objects", `[${repeated("{}", 30_000)}]`],
  ["arrays", `[${repeated("[]", 30_000)}]`],
  ["numbers", `[${repeated("1", 30_000)}]`],
  ["keys", `{${keys(30_000)}}`],
  ["keys in one object", `{"a":{${keys(6_000)}}}`],
  ["broken values", `[${repeated("{", 30_000)}`],
])("a body with too many %s is refused before anything checks it", async (_, body) => {
  const { ask } = await adminWithObjects();
  for (const path of ["/mcp-servers", "/mcp-servers/import"])
    expect((await ask("POST", path, body)).status).toBe(413);
  const whole = body.endsWith("{") ? `${body}${"}".repeat(30_000)}]` : body;
  const document = `{"document":{"version":1,"servers":{"b":${whole}}}}`;
  expect((await ask("POST", "/config/diff", document)).status).toBeOneOf([400, 413]);
});

test("lists of layers and texts are bounded, and the refusal says how", async () => {
  const { ask } = await adminWithObjects();
  const many = <T>(count: number, of: (at: number) => T): T[] =>
    Array.from({ length: count }, (_, at) => of(at));
  const cases: readonly [string, string, unknown, string][] = [
    ["PATCH", "/settings", { middleware: many(101, () => ({ use: "timeout", ms: 1_000 })) }, "100"],
    ["POST", "/mcp-servers", { name: "wide", command: "x", args: many(1_001, String) }, "1000"],
  ];
  for (const [method, path, body, most] of cases) {
    const refused = await ask(method, path, body);
    expect([path, refused.status]).toEqual([path, 422]);
    expect(JSON.stringify(refused.body)).toContain(`may have ${most} entries at most`);
  }
});

test("lists of a namespace are bounded, and so is what arguments and addresses can hold", async () => {
  const { ask } = await adminWithObjects();
  const many = <T>(count: number, of: (at: number) => T): T[] =>
    Array.from({ length: count }, (_, at) => of(at));
  const cases: readonly [string, unknown, string][] = [
    ["/namespaces", { name: "b", servers: many(1_001, () => ({ server: "a" })) }, "1000 entries"],
    ["/namespaces", { name: "b", tools: many(5_001, (at) => ({ server: "a", tool: `t${at}` })) }, "5000"],
    ["/mcp-servers", { name: "b", command: "x", args: ["x".repeat(32_768)] }, "32767 characters"],
    ["/mcp-servers", { name: "b", command: "x", args: many(100, () => "x".repeat(3_000)) }, "262144"],
    ["/mcp-servers", { name: "b", url: `https://h/${"x".repeat(8_192)}` }, "8192 characters"],
    ["/mcp-servers", { name: "b", command: "x".repeat(8_193) }, "8192 characters"],
    ["/mcp-servers", { name: "b", command: "x", cwd: `/${"x".repeat(8_192)}` }, "8192 characters"],
  ];
  for (const [path, body, most] of cases) {
    const refused = await ask("POST", path, body);
    expect([path, refused.status]).toEqual([path, 422]);
    expect(JSON.stringify(refused.body)).toContain(most);
  }
});

test("a gateway has a limited number of objects, and a document names a limited number of faults", async () => {
  const { ask } = await adminWithObjects();
  const entries = (count: number, entry: object) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, entry]));
  const diff = (namespaces: object) => ask("POST", "/config/diff", { document: { version: 1, namespaces } });
  expect((await diff(entries(9_997, {}))).status).toBe(200);
  const many = await diff(entries(9_998, {}));
  expect([many.status, many.body["detail"]]).toEqual([409, expect.stringContaining("at most 10000")]);
  const wrong = await diff(entries(9_000, { midleware: [] }));
  expect([wrong.status, (wrong.body["errors"] as unknown as object[]).length]).toEqual([422, 50]);
});

test("without a login a large body is refused by its length, before it arrives, or as soon as it is too long", async () => {
  const { url } = await testAdmin();
  for (const path of ["login", "setup", "invitations/x"]) {
    const head = `POST /api/v1/${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
    const declared = await rawHttp(url, `${head}content-length: 16385\r\n\r\n`, { responses: 1 });
    const chunk = "x".repeat(0x4000);
    const chunked = `${head}transfer-encoding: chunked\r\n\r\n4000\r\n${chunk}\r\n1\r\nx\r\n`;
    expect([declared.statuses, (await rawHttp(url, chunked, { responses: 1 })).statuses]).toEqual([
      [413],
      [413],
    ]);
  }
});

const YAML = { "content-type": "application/yaml" };
const DOCUMENT = "document:\n  version: 1\n";

test.each([
  ["a repeated key", `${DOCUMENT}prune: true\nprune: false\n`, 400, "unique at line 4, column 1"],
  ["a syntax error", `${DOCUMENT}  b: [\n`, 400, "line 4"],
  ["a repeated key in a flow map", "{a: 1, b: {c: 1, c: 2}}", 400, "unique at line 1, column 18"],
  ["aliases of aliases", aliasBomb(), 400, "alias"],
  ["aliases of a long list", `a: &a [${repeated("1", 2_000)}]\nb: [${repeated("*a", 50)}]\n`, 413, "values"],
  ["many keys", keys(20_000).replaceAll(/"(k\d+)":1,?/g, "$1: 1\n"), 413, "keys"],
  ["many items", "- a\n".repeat(40_000), 413, "values"],
  ["many characters", `# ${"x".repeat(4 * 1024 * 1024)}\n${DOCUMENT}`, 413, "bytes"],
  ["a wrong root", "- a\n", 422, ""],
])("YAML with %s is refused", async (_, body, status, text) => {
  const { ask } = await adminWithObjects();
  for (const path of ["/config/diff", "/config/apply"]) {
    const answer = await ask("POST", path, body, YAML);
    expect([answer.status, answer.body["detail"]]).toEqual([status, expect.stringContaining(text)]);
  }
});

/** Each line repeats the line before ten times. */
function aliasBomb(): string {
  const lines = Array.from({ length: 8 }, (_, at) => `a${at + 1}: &a${at + 1} [${repeated(`*a${at}`, 10)}]`);
  return ["a0: &a0 x", ...lines, ""].join("\n");
}

test("a long valid YAML document is read", async () => {
  const { ask } = await adminWithObjects();
  const servers = Array.from({ length: 500 }, (_, at) => `    s${at}: {command: x}\n`).join("");
  const answer = await ask("POST", "/config/diff", `${DOCUMENT}  servers:\n${servers}`, YAML);
  expect([answer.status, (answer.body["changes"] as unknown as object[]).length]).toEqual([200, 500]);
});

test("of concurrent requests for the same name one succeeds", async () => {
  const { ask } = await adminWithObjects();
  const all = await Promise.all(
    Array.from({ length: 10 }, (_, at) => ask("POST", "/endpoints", { name: at % 2 ? "One" : "one" })),
  );
  expect(all.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
});
