/**
 * No pattern, expression or payload stalls a gateway. During each attack another client sends trivial
 * requests. The longest of their waiting times is compared with the one measured while the same payload
 * passes an endpoint without layers.
 */
import { expect, test } from "vitest";
import { lagDuring, MAX_LAG_MS } from "../support/lag.ts";
import { layeredTeam } from "../support/layered-team.ts";
import { type TeamProcess, teamProcess } from "../support/team-process.ts";
import { fixture, temp } from "../support/temp.ts";

/** The HTTP API accepts bodies up to 4 MB. */
const SIZE = 3_500_000;

const repeated = (part: string): string => part.repeat(Math.ceil(SIZE / part.length));
const echoBody = (message: string): string => JSON.stringify({ message });
const MANY_VALUES = `{"message":"x","list":[${repeated("{},")}{}]}`;
const DETECT = ["secrets", "email", "phone", "card", "iban"];

/** Each definition refers to the next one twice. */
function doubling(word: string): object {
  const twice = (to: string) => ({ [word]: [{ $ref: to }, { $ref: to }] });
  const names = Array.from({ length: 40 }, (_, n) => [`d${n}`, twice(`#/$defs/d${n + 1}`)]);
  return { type: "object", $defs: { ...Object.fromEntries(names), d40: {} }, $ref: "#/$defs/d0" };
}

const SCHEMAS: Readonly<Record<string, object>> = {
  echo: { type: "object" },
  fail: { type: "object" },
  all_of: doubling("allOf"),
  one_of: doubling("oneOf"),
  tree: { type: "object", properties: { x: { allOf: [{ $ref: "#" }, { $ref: "#" }] } } },
  unique: { type: "object", properties: { list: { uniqueItems: true } } },
  pattern: { type: "object", properties: { list: { items: { pattern: "\\w*x\\w*y" } } } },
};
const nested = (depth: number): string => (depth === 0 ? "{}" : `{"x":${nested(depth - 1)}}`);
const list = (count: number, one: (n: number) => unknown): string =>
  JSON.stringify({ message: "x", list: Array.from({ length: count }, (_, n) => one(n)) });

interface Attack {
  readonly layers: readonly object[];
  readonly tool?: string;
  readonly body: string;
  /** Expected HTTP status of the answer. */
  readonly status: number;
  /**
   * The status if the time limit of the layer runs out. For work that needs only a small part of the limit:
   * on a busy machine the gateway may have to wait for a processor until the limit is over, and then refuses
   * the call.
   */
  readonly late?: number;
}
/**
 * A gateway that computed for less than this did not use up the time limit of a layer (250 or 500 ms), but
 * waited.
 */
const HARDLY_COMPUTED_MS = 125;
const allow = (rule: object) => [{ use: "policy", rules: [{ effect: "allow", ...rule }] }];
const redact = (...detect: unknown[]) => [{ use: "redact", detect }];
const customPattern = (pattern: string) => redact({ name: "own", pattern });

const ATTACKS: Readonly<Record<string, Attack>> = {
  "a glob with heavy backtracking": {
    layers: allow({ args: { message: { glob: `*${"a".repeat(800)}b*` } } }),
    body: echoBody(repeated("a")),
    status: 403,
  },
  "many globs": {
    layers: allow({
      args: { message: { glob: Array.from({ length: 500 }, (_, n) => `${"*a".repeat(100)}${n}`) } },
    }),
    body: echoBody(repeated("a")),
    status: 403,
  },
  "a search for many values in a long list": {
    layers: allow({ args: { list: { in: Array.from({ length: 1_000 }, (_, n) => ({ n })) } } }),
    body: list(9_000, (n) => ({ n: n + 0.5 })),
    status: 403,
  },
  "more values than the limit allows": {
    layers: allow({ when: "size(args.list) > 0" }),
    body: MANY_VALUES,
    status: 403,
  },
  "a list that is searched once per element": {
    layers: allow({ when: Array(40).fill("args.list.all(x, !(x + 1 in args.list))").join("&&") }),
    body: list(1_900, () => 1),
    status: 403,
  },
  "a list that grows": {
    layers: allow({ when: `size(${Array(90).fill("args.list").join("+")}) > 0` }),
    body: list(8_000, () => 1),
    status: 403,
  },
  "a search for a long text in a long text": {
    layers: allow({ when: Array(40).fill("!args.message.contains(args.other)").join("&&") }),
    body: JSON.stringify({
      message: "a".repeat(SIZE / 2),
      other: `${"a".repeat(SIZE / 8)}b${"a".repeat(SIZE / 8)}`,
    }),
    status: 403,
  },
  "a large value beside the checked one": {
    layers: allow({ when: 'args.path.startsWith("/tmp")' }),
    body: JSON.stringify({ path: "/tmp/x", message: repeated("x") }),
    status: 200,
    late: 403,
  },
  "email addresses only": { layers: redact(...DETECT), body: echoBody(repeated("a@b.co ")), status: 200 },
  "almost an email address": {
    layers: redact(...DETECT),
    body: echoBody(`${repeated("a")}@${"b.".repeat(1_000)}`),
    status: 200,
  },
  "almost tokens": { layers: redact(...DETECT), body: echoBody(repeated("-eyJ")), status: 200 },
  "almost card numbers": {
    layers: redact(...DETECT),
    body: echoBody(repeated("4111 1111 1111 1112 ")),
    status: 200,
  },
  "a list of very many texts": {
    layers: redact("email"),
    body: list(SIZE / 20, () => "ada@b.co"),
    status: 200,
  },
  "a pattern that is exponential for backtracking engines": {
    layers: customPattern("(x+x+)+y"),
    body: echoBody(repeated("x")),
    status: 200,
    late: 500,
  },
  "a pattern that reads to the end from each position": {
    layers: customPattern("a.*b|a"),
    body: echoBody(repeated("a")),
    status: 500,
  },
  "a large pattern": {
    layers: customPattern("((a{1,20}){1,20}b?){1,2}c"),
    body: echoBody(repeated("ab")),
    status: 200,
    late: 500,
  },
  "a schema with exponential allOf": {
    layers: [{ use: "validate" }],
    tool: "all_of",
    body: echoBody("x"),
    status: 400,
  },
  "a schema with exponential oneOf": {
    layers: [{ use: "validate" }],
    tool: "one_of",
    body: echoBody("x"),
    status: 400,
  },
  "a recursive schema on deep arguments": {
    layers: [{ use: "validate" }],
    tool: "tree",
    body: nested(60),
    status: 400,
  },
  "uniqueItems on a long list": {
    layers: [{ use: "validate" }],
    tool: "unique",
    body: list(40_000, (n) => ({ n })),
    status: 400,
  },
  "a schema pattern on many texts": {
    layers: [{ use: "validate" }],
    tool: "pattern",
    body: list(2_000, () => "x".repeat(1_000)),
    status: 400,
  },
  "a schema on more values than the limit allows": {
    layers: [{ use: "validate" }],
    body: MANY_VALUES,
    status: 400,
  },
  "a schema with exponential allOf that no layer checks": {
    layers: [],
    tool: "all_of",
    body: echoBody("x"),
    status: 200,
  },
  "a cache key of a large payload": {
    layers: [{ use: "cache", ttlMs: "1m", by: "shared" }],
    body: echoBody(repeated("x")),
    status: 200,
  },
  "a cache key of deep arguments": {
    layers: [{ use: "cache", ttlMs: "1m" }],
    body: `{"message":"x","deep":${"[".repeat(900)}${"]".repeat(900)}}`,
    status: 200,
  },
  "names with many stars": {
    layers: [
      { use: "filter", deny: Array.from({ length: 1_000 }, (_, n) => `${"*c*h*o".repeat(100)}${n}`) },
      {
        use: "flow",
        deny: Array.from({ length: 200 }, (_, n) => ({ from: "*", to: `${"*e".repeat(300)}${n}` })),
      },
    ],
    body: echoBody("x"),
    status: 200,
  },
  "an error with more values than the limit allows": {
    layers: redact("email"),
    tool: "fail",
    body: `{"data":[${"{},".repeat(SIZE / 12)}{}]}`,
    status: 502,
  },
};
const NAMES = Object.keys(ATTACKS);

async function attackedGateway(): Promise<{ gateway: TeamProcess; key: string }> {
  const folder = temp();
  const tools = Object.entries(SCHEMAS).map(([name, inputSchema]) => ({
    name,
    inputSchema,
    annotations: { readOnlyHint: true },
  }));
  const file = folder.write("tools.json", JSON.stringify(tools));
  const gateway = await teamProcess(folder);
  const endpoint = (middleware: readonly object[]) => ({
    namespaces: ["team"],
    surface: "aggregate",
    openapi: true,
    middleware,
  });
  const document = {
    version: 1,
    servers: { fix: fixture("--tools-file", file) },
    namespaces: { team: { servers: { fix: {} } } },
    endpoints: {
      bare: endpoint([]),
      ...Object.fromEntries(NAMES.map((name, n) => [`e${n}`, endpoint(ATTACKS[name]?.layers ?? [])])),
    },
  };
  const { status, body } = await gateway.api("POST", "/config/apply", { document });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { gateway, key: await gateway.key() };
}

test("no attack by payload delays requests of other clients", { timeout: 300_000 }, async () => {
  const { gateway, key } = await attackedGateway();
  const send = async (endpoint: string, tool: string, body: string) => {
    const answer = await fetch(`${gateway.url}/metamcp/${endpoint}/api/fix__${tool}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body,
    });
    const text = await answer.text();
    return `${answer.status} ${text.slice(0, 300)}`;
  };
  await send("bare", "echo", echoBody("x"));
  for (const [n, name] of NAMES.entries()) {
    const { tool = "echo", body, status, late } = ATTACKS[name] as Attack;
    const bare = await lagDuring(gateway, () => send("bare", "echo", body));
    const { lag, value } = await lagDuring(gateway, () => send(`e${n}`, tool, body));
    const description = `${name}: ${Math.round(lag)} ms, without a layer ${Math.round(bare.lag)} ms, ${value}`;
    const waited = late !== undefined && lag < HARDLY_COMPUTED_MS;
    expect(waited ? [status, late] : [status], description).toContain(Number(value.slice(0, 3)));
    expect(lag, description).toBeLessThan(MAX_LAG_MS + 2 * bare.lag);
  }
});

test("patterns and expressions without a bound on their cost are rejected when they are configured", async () => {
  const { api } = await layeredTeam();
  const problemWith = async (middleware: readonly object[]) =>
    (await api("PATCH", "/settings", { middleware })).body.detail ?? "taken";
  const when = (text: string) => problemWith(allow({ when: text }));
  expect(await when('args.a.matches("(a+)+$")')).toMatch(/must not use matches/);
  expect(await when("args.a.all(x, args.a.all(y, x == y))")).toMatch(/must not use all inside another one/);
  expect(await when(`${"(".repeat(400)}true${")".repeat(400)}`)).toMatch(/not valid/);
  expect(await when(`1 in [${Array(400).fill(1)}]`)).toMatch(/not valid/);
  expect(await when(`true${" ".repeat(3_000)}`)).toMatch(/more than 2000 characters/);
  expect(await problemWith(customPattern("(a)\\1"))).toMatch(/pattern is not valid/);
  expect(await problemWith(customPattern("a".repeat(1_001)))).toMatch(/detect\/0/);
  expect(await problemWith(customPattern("(((a{1,1000}){1,1000}){1,1000})b"))).toMatch(
    /has too large patterns/,
  );
  expect(await problemWith([{ use: "filter", deny: ["*".repeat(2_000)] }])).toMatch(
    /more than 1000 characters/,
  );
});
