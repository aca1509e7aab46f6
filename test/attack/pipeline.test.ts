/**
 * No pattern, expression or payload stalls a gateway. Each attack is made beside a stranger who asks for next to nothing:
 * how long they wait is compared with how long they wait while the same payload passes where there is no layer.
 */
import { expect, test } from "vitest";
import { lagDuring, MOST_LAG_MS } from "../support/lag.ts";
import { layeredTeam } from "../support/layered-team.ts";
import { type TeamGateway, teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";

/** A request over plain HTTP may have 4 MB. */
const SIZE = 3_500_000;

const filled = (part: string): string => part.repeat(Math.ceil(SIZE / part.length));
const said = (message: string): string => JSON.stringify({ message });
const MANY = `{"message":"x","list":[${filled("{},")}{}]}`;
const DETECT = ["secrets", "email", "phone", "card", "iban"];

/** Each name means the next one twice. */
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
  /** The status it is answered with. */
  readonly status: number;
}
const allow = (rule: object) => [{ use: "policy", rules: [{ effect: "allow", ...rule }] }];
const redact = (...detect: unknown[]) => [{ use: "redact", detect }];
const own = (pattern: string) => redact({ name: "own", pattern });

const ATTACKS: Readonly<Record<string, Attack>> = {
  "a glob that goes back and forth": {
    layers: allow({ args: { message: { glob: `*${"a".repeat(800)}b*` } } }),
    body: said(filled("a")),
    status: 403,
  },
  "many globs": {
    layers: allow({
      args: { message: { glob: Array.from({ length: 500 }, (_, n) => `${"*a".repeat(100)}${n}`) } },
    }),
    body: said(filled("a")),
    status: 403,
  },
  "values that are looked for in a long list": {
    layers: allow({ args: { list: { in: Array.from({ length: 5_000 }, (_, n) => ({ n })) } } }),
    body: list(9_000, (n) => ({ n: n + 0.5 })),
    status: 403,
  },
  "more values than can be read": { layers: allow({ when: "size(args.list) > 0" }), body: MANY, status: 403 },
  "a list that is searched for each of its elements": {
    layers: allow({ when: Array(40).fill("args.list.all(x, !(x + 1 in args.list))").join("&&") }),
    body: list(1_900, () => 1),
    status: 403,
  },
  "a list that grows": {
    layers: allow({ when: `size(${Array(90).fill("args.list").join("+")}) > 0` }),
    body: list(8_000, () => 1),
    status: 403,
  },
  "a text that is searched for a text": {
    layers: allow({ when: Array(40).fill("!args.message.contains(args.other)").join("&&") }),
    body: JSON.stringify({
      message: "a".repeat(SIZE / 2),
      other: `${"a".repeat(SIZE / 8)}b${"a".repeat(SIZE / 8)}`,
    }),
    status: 403,
  },
  "a large payload beside what is judged": {
    layers: allow({ when: 'args.path.startsWith("/tmp")' }),
    body: JSON.stringify({ path: "/tmp/x", message: filled("x") }),
    status: 200,
  },
  "addresses all over": { layers: redact(...DETECT), body: said(filled("a@b.co ")), status: 200 },
  "nearly an address": {
    layers: redact(...DETECT),
    body: said(`${filled("a")}@${"b.".repeat(1_000)}`),
    status: 200,
  },
  "nearly a token": { layers: redact(...DETECT), body: said(filled("-eyJ")), status: 200 },
  "nearly a card": { layers: redact(...DETECT), body: said(filled("4111 1111 1111 1112 ")), status: 200 },
  "a text in a million texts": {
    layers: redact("email"),
    body: list(SIZE / 20, () => "ada@b.co"),
    status: 200,
  },
  "a pattern that doubles elsewhere": { layers: own("(x+x+)+y"), body: said(filled("x")), status: 200 },
  "a pattern that reads to the end for each letter": {
    layers: own("a.*b|a"),
    body: said(filled("a")),
    status: 500,
  },
  "a large pattern": { layers: own("((a{1,20}){1,20}b?){1,2}c"), body: said(filled("ab")), status: 200 },
  "a schema that doubles": { layers: [{ use: "validate" }], tool: "all_of", body: said("x"), status: 400 },
  "choices that double": { layers: [{ use: "validate" }], tool: "one_of", body: said("x"), status: 400 },
  "a tree that doubles": { layers: [{ use: "validate" }], tool: "tree", body: nested(60), status: 400 },
  "a list that is compared with itself": {
    layers: [{ use: "validate" }],
    tool: "unique",
    body: list(40_000, (n) => ({ n })),
    status: 400,
  },
  "a pattern of a schema on many texts": {
    layers: [{ use: "validate" }],
    tool: "pattern",
    body: list(2_000, () => "x".repeat(1_000)),
    status: 400,
  },
  "a schema on more values than can be read": { layers: [{ use: "validate" }], body: MANY, status: 400 },
  "a schema that doubles, and nobody asked to check it": {
    layers: [],
    tool: "all_of",
    body: said("x"),
    status: 200,
  },
  "a cache key of a large payload": {
    layers: [{ use: "cache", ttlMs: "1m", by: "shared" }],
    body: said(filled("x")),
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
    body: said("x"),
    status: 200,
  },
  "an error with more values than can be read": {
    layers: redact("email"),
    tool: "fail",
    body: `{"data":[${"{},".repeat(SIZE / 12)}{}]}`,
    status: 502,
  },
};
const NAMES = Object.keys(ATTACKS);

async function attacked(): Promise<{ gateway: TeamGateway; key: string }> {
  const folder = temp();
  const tools = Object.entries(SCHEMAS).map(([name, inputSchema]) => ({
    name,
    inputSchema,
    annotations: { readOnlyHint: true },
  }));
  const file = folder.write("tools.json", JSON.stringify(tools));
  const gateway = await teamGateway(folder);
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

test("attacks by payload keep nobody else waiting", { timeout: 300_000 }, async () => {
  const { gateway, key } = await attacked();
  const send = async (endpoint: string, tool: string, body: string) => {
    const answer = await fetch(`${gateway.url}/metamcp/${endpoint}/api/fix__${tool}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body,
    });
    const text = await answer.text();
    return `${answer.status} ${text.slice(0, 300)}`;
  };
  await send("bare", "echo", said("x"));
  for (const [n, name] of NAMES.entries()) {
    const { tool = "echo", body, status } = ATTACKS[name] as Attack;
    const bare = await lagDuring(gateway, () => send("bare", "echo", body));
    const { lag, value } = await lagDuring(gateway, () => send(`e${n}`, tool, body));
    const told = `${name}: ${Math.round(lag)} ms, without a layer ${Math.round(bare.lag)} ms, ${value}`;
    expect(value.slice(0, 3), told).toBe(String(status));
    expect(lag, told).toBeLessThan(MOST_LAG_MS + 2 * bare.lag);
  }
});

test("what has no bound is refused before it is used", async () => {
  const { api } = await layeredTeam();
  const tried = async (middleware: readonly object[]) =>
    (await api("PATCH", "/settings", { middleware })).body.detail ?? "taken";
  const when = (text: string) => tried(allow({ when: text }));
  expect(await when('args.a.matches("(a+)+$")')).toMatch(/must not use matches/);
  expect(await when("args.a.all(x, args.a.all(y, x == y))")).toMatch(/must not use all inside another one/);
  expect(await when(`${"(".repeat(400)}true${")".repeat(400)}`)).toMatch(/not valid/);
  expect(await when(`1 in [${Array(400).fill(1)}]`)).toMatch(/not valid/);
  expect(await when(`true${" ".repeat(3_000)}`)).toMatch(/more than 2000 characters/);
  expect(await tried(own("(a)\\1"))).toMatch(/pattern is not valid/);
  expect(await tried(own("a".repeat(1_001)))).toMatch(/detect\/0/);
  expect(await tried(own("(((a{1,1000}){1,1000}){1,1000})b"))).toMatch(/pattern is not valid/);
  expect(await tried([{ use: "filter", deny: ["*".repeat(2_000)] }])).toMatch(/more than 1000 characters/);
});
