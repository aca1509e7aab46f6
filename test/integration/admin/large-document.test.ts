/** A gateway of the largest size can apply its own export, while it serves others. */
import { expect, test } from "vitest";
import { cpuTimeMs } from "../../support/processes.ts";
import { ADMIN_TOKEN, type TeamGateway } from "../../support/team-gateway.ts";
import { measuredTeam } from "../../support/turns.ts";

const EACH = 3_333;

const large = () => ({
  version: 1,
  servers: entries((at) => ({ command: "x", args: ["--name", `${at}`], disabled: true, description: TEXT })),
  namespaces: entries((at) => ({ servers: { [`o${at}`]: {} }, tools: { [`o${at}:t`]: { name: "u" } } })),
  endpoints: entries((at) => ({ namespaces: [`o${at}`], description: TEXT })),
});
const TEXT = "a description of some words ".repeat(20);
const entries = (of: (at: number) => object) =>
  Object.fromEntries(Array.from({ length: EACH }, (_, at) => [`o${at}`, of(at)]));

async function exported({ url }: TeamGateway, accept: string): Promise<string> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, accept };
  return await (await fetch(`${url}/api/v1/config`, { headers })).text();
}

const posix = process.platform === "linux";

test.skipIf(!posix)(
  "a gateway of the largest size applies its own export",
  { timeout: 240_000 },
  async () => {
    const { team, longestTurn } = await measuredTeam();
    const before = cpuTimeMs(team.pid) ?? 0;
    await longestTurn();
    const made = await team.api("POST", "/config/apply", { document: large() });
    expect([made.status, made.body.changes?.length]).toEqual([200, 3 * EACH]);
    const { longest } = await longestTurn();
    const computed = (cpuTimeMs(team.pid) ?? 0) - before;

    const json = await exported(team, "application/json");
    expect(json.length).toBeGreaterThan(4 * 1024 * 1024);
    const again = await team.api("POST", "/config/apply", { document: JSON.parse(json) as object });
    expect([again.status, again.body.changes]).toEqual([200, []]);
    // Others are served all the time: no turn takes a large part of the work.
    expect(longest).toBeLessThan(computed / 5);
  },
);
