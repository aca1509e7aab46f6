/**
 * No body of anybody keeps the gateway from serving others for long. Turns are compared with a piece of work
 * in the same process at the same time, so that a slow or busy machine changes little. The unit takes about 2
 * ms, so 25 units are 50 ms. Each layer reads a message once, in a turn of its own, which takes up to 14
 * units; one that reads it twice takes up to 28. The limit lies between. Other load makes single turns long,
 * so what exceeds the limit is tried again, and only what exceeds it in each of many attempts counts.
 * METAMCP_TURNS=all tries every value at every place, and again what is above the aim, and prints what is.
 */
import { expect, test } from "vitest";
import { adminRoutes } from "../../src/admin/routes/all.ts";
import { HEADERS } from "../support/http-gateway.ts";
import { shared } from "../support/shared.ts";
import { ADMIN_TOKEN } from "../support/team-gateway.ts";
import { fixture } from "../support/temp.ts";
import { measuredTeam, type Turn } from "../support/turns.ts";
import { DOCUMENTS, MESSAGES, SMALL_VALUES, VALUES } from "./worst-bodies.ts";

const AIM = 14;
const MOST_UNITS = 18;
const ATTEMPTS = 10;
const ALL = process.env["METAMCP_TURNS"] === "all";
/** Longer turns are tried again, because other load makes single ones long. */
const DOUBTFUL = ALL ? AIM : MOST_UNITS;
const linux = process.platform === "linux";

const LAYERS = [
  { use: "audit", arguments: "redacted" },
  {
    use: "policy",
    rules: [
      { effect: "deny", tools: ["*:args"], args: { message: { glob: "*a*b*c*" } } },
      { effect: "allow", tools: ["*"] },
    ],
  },
  { use: "rate-limit", requests: 1_000_000, per: "1s" },
  { use: "validate", input: true, output: true },
  { use: "redact", detect: ["secrets", "email", "card"] },
  { use: "flow", deny: [{ from: "*:other", to: "*:more" }] },
  { use: "cache", tools: ["*"], ttlMs: 1_000 },
];

const made = shared(async () => {
  const { team, longestTurn } = await measuredTeam();
  const create = async (path: string, body: object): Promise<void> => {
    const answer = await team.api("POST", path, body);
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  };
  await create("/mcp-servers", { name: "fix", ...fixture("--prompts", "1"), timeoutMs: 1_000 });
  await create("/namespaces", { name: "team", servers: [{ server: "fix" }] });
  for (const surface of ["meta", "metatools", "aggregate"]) {
    const endpoint = { namespaces: ["team"], surface, openapi: true };
    await create("/endpoints", { name: surface, ...endpoint, middleware: LAYERS });
  }
  await team.api("POST", "/mcp-servers/fix/connect");
  return { team, longestTurn, key: await team.key() };
});

interface Attack {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the attacks that blocked the gateway each time. */
async function blocking(attacks: Iterable<Attack>): Promise<string[]> {
  const { team, longestTurn } = made();
  const found: string[] = [];
  for (const { name, method, path, headers, body } of attacks) {
    const turns: Turn[] = [];
    do {
      await longestTurn();
      const signal = AbortSignal.timeout(10_000);
      await fetch(team.url + path, { method, headers, body, signal }).then(
        (answer) => answer.text(),
        () => "no answer in time",
      );
      turns.push(await longestTurn());
    } while (turns.length < ATTEMPTS && unitsOf(turns.at(-1) as Turn) > DOUBTFUL);
    const least = Math.min(...turns.map(unitsOf));
    if (ALL && least > 0)
      process.stdout.write(
        `${least.toFixed(1)} units ${Math.min(...turns.map((t) => t.longest)).toFixed(1)} ms: ${name}\n`,
      );
    if (least > MOST_UNITS) found.push(`${name}: ${least.toFixed(1)} units`);
  }
  return found;
}

const unitsOf = ({ longest, unit }: Turn): number => (unit === 0 ? 0 : longest / unit);

const MOST_BYTES = 4 * 1024 * 1024 - 1_000;
/** The worst for who parses and for who decodes a text. */
const WORST = ["keys", "pairs of surrogates"];

function* messages(surface: string, session: string): Generator<Attack> {
  const headers = { ...HEADERS, "x-api-key": made().key, "mcp-session-id": session };
  for (const [place, { write, surfaces, parts = 1 }] of Object.entries(MESSAGES)) {
    if (!surfaces.includes(surface)) continue;
    for (const [kind, shape] of Object.entries(VALUES)) {
      if (!ALL && !WORST.includes(kind)) continue;
      const body = write(shape(MOST_BYTES / parts));
      const name = `${surface}: ${kind} as ${place}`;
      yield { name, method: "POST", path: `/metamcp/${surface}/mcp`, headers, body };
    }
  }
}

async function openSession(surface: string): Promise<string> {
  const { team, key } = made();
  const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "a", version: "1" } };
  const answer = await fetch(`${team.url}/metamcp/${surface}/mcp`, {
    method: "POST",
    headers: { ...HEADERS, "x-api-key": key },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  await answer.text();
  return answer.headers.get("mcp-session-id") ?? "";
}

test.skipIf(!linux).each(["aggregate", "meta", "metatools"])(
  "no message of a client blocks the gateway (%s)",
  { timeout: ALL ? 3_000_000 : 600_000 },
  async (surface) => {
    expect(await blocking(messages(surface, await openSession(surface)))).toEqual([]);
  },
);

function* overHttp(): Generator<Attack> {
  const headers = { "x-api-key": made().key, "content-type": "application/json" };
  for (const [kind, shape] of Object.entries(VALUES)) {
    if (!ALL && !WORST.includes(kind)) continue;
    const value = shape(MOST_BYTES);
    for (const [place, body] of Object.entries({ body: value, argument: `{"message":${value}}` }))
      for (const tool of ["fix__echo", "fix__args"])
        yield {
          name: `${kind} as ${place} of ${tool}`,
          method: "POST",
          path: `/metamcp/aggregate/api/${tool}`,
          headers,
          body,
        };
  }
}

test.skipIf(!linux)(
  "no plain HTTP call blocks the gateway",
  { timeout: ALL ? 3_000_000 : 600_000 },
  async () => {
    expect(await blocking(overHttp())).toEqual([]);
  },
);

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" };

/** Each member of each body. */
function* changes(): Generator<Attack> {
  for (const { method, path, body, tag } of adminRoutes({} as never)) {
    if (method === "GET" || !body || tag === "login") continue;
    const { properties = {} } = body as { readonly properties?: object };
    const target = path.replace(":uuid", "fix").replace(":n", "1").replace(/:\w+/g, "x");
    for (const place of [...Object.keys(properties), "more", ""])
      for (const [kind, value] of Object.entries(SMALL_VALUES)) {
        if (!ALL && kind !== (place === "" ? "many keys" : "many values")) continue;
        const written = place === "" ? value : `{${JSON.stringify(place)}:${value}}`;
        const name = `${method} ${path}: ${kind} as ${place || "body"}`;
        yield { name, method, path: `/api/v1${target}`, headers: ADMIN, body: written };
      }
  }
}

function* documents(): Generator<Attack> {
  const paths = ["/config/apply?dryRun=true", ...(ALL ? ["/config/diff"] : [])];
  for (const [kind, { type, body }] of Object.entries(DOCUMENTS))
    for (const path of paths)
      yield {
        name: `${path}: ${kind}`,
        method: "POST",
        path: `/api/v1${path}`,
        headers: { ...ADMIN, "content-type": type },
        body: body(),
      };
}

test.skipIf(!linux)(
  "no body of the admin API blocks the gateway",
  { timeout: ALL ? 3_000_000 : 600_000 },
  async () => {
    expect(await blocking(changes())).toEqual([]);
  },
);

test.skipIf(!linux)("no document blocks the gateway", { timeout: ALL ? 3_000_000 : 600_000 }, async () => {
  expect(await blocking(documents())).toEqual([]);
});
