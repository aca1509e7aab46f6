/**
 * A batch is no way around a rule: each of its requests is judged, counted, changed and recorded as if it had
 * come alone. Two callers with the same rights send the same requests, one of them in a batch.
 */
import { expect, test } from "vitest";
import { HEADERS } from "../support/http-gateway.ts";
import { type LayeredTeam, layeredTeam } from "../support/layered-team.ts";
import { callSummary, type Row } from "../support/records.ts";
import { until } from "../support/until.ts";

const MIDDLEWARE = [
  { use: "audit", arguments: "full" },
  {
    use: "policy",
    default: "allow",
    rules: [
      { effect: "deny", tools: ["*:env"] },
      { effect: "deny", tools: ["*:args"], args: { path: { glob: "/etc/*" } } },
    ],
  },
  { use: "rate-limit", requests: 12, per: "1h" },
  { use: "redact", detect: ["secrets"] },
];

const call = (name: string, args: object = {}): object => ({
  method: "tools/call",
  params: { name: `fix__${name}`, arguments: args },
});
const numbered = (requests: readonly object[], from = 0): readonly object[] =>
  requests.map((request, at) => ({ jsonrpc: "2.0", id: from + at, ...request }));
/** Sent one after the other, because the requests of one batch run at the same time. */
const BATCHES = [
  numbered([
    call("echo", { message: "one" }),
    call("env"),
    call("args", { path: "/etc/passwd" }),
    call("args", { path: "/srv/a" }),
    call("echo", { message: "token=abcdefgh12345678" }),
    call("no_such_tool"),
    { method: "resources/read", params: { uri: "file:///no/such" } },
    { method: "prompts/get", params: { name: "no_such_prompt" } },
    { method: "completion/complete", params: { ref: { type: "ref/prompt", name: "x" }, argument: {} } },
    { method: "custom/exec", params: { command: "x" } },
  ]),
  numbered(Array(16).fill(call("echo", { message: "again" })), 10),
];
const REQUESTS = BATCHES.flat();

interface Answer {
  readonly id: number;
}

/** Answers and records of one caller. What differs with time and name is left out. */
async function outcomes(
  { gateway }: LayeredTeam,
  send: (post: (body: unknown) => Promise<Answer[]>) => Promise<Answer[]>,
) {
  const key = await gateway.key();
  const { body: keys } = await gateway.api("GET", "/api-keys");
  const { uuid } = keys.items.find(({ prefix }: { prefix: string }) => key.startsWith(prefix));
  let session = {};
  const request = async (body: unknown): Promise<Response> =>
    await fetch(`${gateway.url}/metamcp/aggregate/mcp`, {
      method: "POST",
      headers: { ...HEADERS, accept: "application/json, text/event-stream", "x-api-key": key, ...session },
      body: JSON.stringify(body),
    });
  const params = {
    protocolVersion: "2025-03-26",
    capabilities: {},
    clientInfo: { name: "batch", version: "1" },
  };
  const opened = await request({ jsonrpc: "2.0", id: "a", method: "initialize", params });
  await opened.text();
  session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const answers = await send(async (body) => {
    const text = await (await request(body)).text();
    const data = text.startsWith("{") || text.startsWith("[") ? [text] : eventsIn(text);
    return data.flatMap((one) => JSON.parse(one) as Answer | Answer[]);
  });
  const records = await until(async () => {
    const rows = (await gateway.api("GET", `/audit?limit=500&kind=call&key=${uuid}`)).body.items as Row[];
    return countOf(rows) >= REQUESTS.length ? rows : undefined;
  });
  return {
    answers: answers.toSorted((a, b) => a.id - b.id).map((answer) => timeless(answer)),
    recorded: summary(records),
  };
}

const eventsIn = (text: string): string[] =>
  text
    .split("\n")
    .flatMap((line) => (line.startsWith("data: {") || line.startsWith("data: [") ? [line.slice(6)] : []));
/** Equal refusals within a second are one record. */
const timesOf = ({ count = 1 }: Row): number => Number(count);
const countOf = (rows: readonly Row[]): number => rows.reduce((sum, row) => sum + timesOf(row), 0);

/** How often each outcome is recorded, with the arguments of calls that ran. */
function summary(rows: readonly Row[]): object {
  const times: Record<string, number> = {};
  for (const row of rows) {
    const { method = "", outcome, by = "", arguments: args } = row;
    const known = outcome === "ok" ? JSON.stringify(args) : "";
    const name = [method, callSummary(row), by, known].join(" ");
    times[name] = (times[name] ?? 0) + timesOf(row);
  }
  return times;
}

/** Waiting times of limits differ from call to call. */
const timeless = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/(?<=retry\D{0,40})\d+|\d+(?= (?:ms|s|min|minutes|seconds)\b)/gi, "N");

test("a batch has the answers and the records of its requests alone", async () => {
  const team = await layeredTeam({ endpoint: { middleware: MIDDLEWARE } });
  const alone = await outcomes(team, async (post) => {
    const answers: Answer[] = [];
    for (const request of REQUESTS) answers.push(...(await post(request)));
    return answers;
  });
  const together = await outcomes(team, async (post) => {
    const answers: Answer[] = [];
    for (const batch of BATCHES) answers.push(...(await post(batch)));
    return answers;
  });

  expect(alone.answers).toHaveLength(REQUESTS.length);
  expect(together.answers).toEqual(alone.answers);
  expect(together.recorded).toEqual(alone.recorded);
  // The requests meet each rule.
  for (const sign of ["Unknown tool: fix__env", "rule 2 denies", "rate_limited", "[secret"])
    expect(alone.answers.filter((answer) => answer.includes(sign))).not.toEqual([]);
  expect(team.reached("env")).toBe(0);
});
