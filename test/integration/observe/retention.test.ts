/**
 * Retention in a running gateway: records over the configured age are removed from the store, and the rest
 * can be verified.
 */
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { auditRecords } from "../../support/records.ts";
import { ADMIN_TOKEN, teamClient } from "../../support/team-gateway.ts";
import { type TeamProcess, teamProcess } from "../../support/team-process.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const preload = (code: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}`,
});
/** The records of this gateway are forty days old. */
const FORTY_DAYS_AGO = preload("const now = Date.now; Date.now = () => now() - 40 * 86_400_000;");
/**
 * A gateway looks for old records one minute after its start. This shortens timers of one minute to half a
 * second.
 */
const SHORT_MINUTE = preload(
  "const wait = setTimeout; globalThis.setTimeout = (run, ms, ...more) => wait(run, ms === 60_000 ? 500 : ms, ...more);",
);

const call = async (gateway: TeamProcess, key: string, tool: string): Promise<void> => {
  const client = await teamClient(gateway, "team", { key });
  await client.call(`fix__${tool}`, { message: "x" });
  await auditRecords(gateway, `&kind=call&tool=${tool}`);
};

const recordsIn = async ({ api }: TeamProcess): Promise<readonly { seq: number; tool?: string }[]> =>
  (await api("GET", "/audit?limit=500")).body.items;

test("records over --audit-days are removed at runtime, and the rest can be verified by this and the next gateway", async () => {
  const folder = temp();
  const old = await teamProcess(folder, { env: FORTY_DAYS_AGO });
  await old.api("POST", "/mcp-servers", { name: "fix", ...fixture() });
  await old.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  await old.api("POST", "/endpoints", { name: "team", namespaces: ["team"], surface: "aggregate" });
  const key = await old.key();
  await call(old, key, "echo");
  const before = await recordsIn(old);
  await old.kill("SIGTERM");

  const kept = await teamProcess(folder, { flags: ["--audit-days", "60"], env: SHORT_MINUTE });
  await call(kept, key, "pid");
  expect((await recordsIn(kept)).length).toBeGreaterThan(before.length);
  const newest = Math.max(...before.map(({ seq }) => seq));
  await kept.kill("SIGTERM");

  const gateway = await teamProcess(folder, { flags: ["--audit-days", "7"], env: SHORT_MINUTE });
  const rest = await until(
    async () => {
      const records = await recordsIn(gateway);
      return records.every(({ seq }) => seq > newest) ? records : undefined;
    },
    { what: "the old records to go" },
  );
  expect(rest.map(({ tool }) => tool)).toContain("pid");
  expect(before.map(({ tool }) => tool)).toContain("echo");
  await call(gateway, key, "add");
  const seqs = (await recordsIn(gateway)).map(({ seq }) => seq).toReversed();
  expect(seqs).toEqual(seqs.map((_, n) => newest + 1 + n));
  const verify = async ({ url }: TeamProcess) => {
    const env = { ...folder.env, METAMCP_ADMIN_TOKEN: ADMIN_TOKEN, METAMCP_GATEWAY: url };
    return await metamcp({ ...folder, env }, ["gateway", "audit", "verify"]);
  };
  expect(await verify(gateway)).toMatchObject({ code: 0 });
  await gateway.kill("SIGTERM");
  expect(await verify(await teamProcess(folder))).toMatchObject({ code: 0 });
});
