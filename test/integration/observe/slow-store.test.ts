/** `audit` with `required` on a slow store, beside another gateway, and when a gateway is killed. */
import { describe, expect, test } from "vitest";
import { cutProxy } from "../../support/cut-proxy.ts";
import { auditRecords, type Row } from "../../support/records.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { type TeamProcess, teamProcess } from "../../support/team-process.ts";
import { fixture, temp } from "../../support/temp.ts";
import { noPostgres, postgresAddress, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const SECRET = { METAMCP_SECRET_KEY: "a-secret-for-this-gateway-0123456789" };
const STRICT = [{ use: "audit", required: true, arguments: "full" }];
const ON_POSTGRES = `on Postgres${noPostgres ? ` (left out: ${noPostgres})` : ""}`;

describe.skipIf(noPostgres)(ON_POSTGRES, () => {
  test("no answer leaves and no call starts without its record, also if a gateway is killed", async () => {
    const { host, port, url } = postgresAddress();
    const proxy = await cutProxy({ host, port });
    const through = new URL(url);
    through.hostname = "127.0.0.1";
    through.port = String(proxy.port);
    const database = await postgresDatabase(url.href);
    const slow = new URL(database.url);
    slow.hostname = through.hostname;
    slow.port = through.port;
    const start = (store: string): Promise<TeamProcess> =>
      teamProcess(temp(), { flags: ["--store", store], env: SECRET });
    const gateways = await Promise.all([start(slow.href), start(database.url)]);
    const [killed, other] = gateways;
    const journal = temp().journal();
    await other.api("POST", "/mcp-servers", { name: "fix", ...fixture("--journal", journal.file) });
    await other.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
    const strict = { namespaces: ["team"], surface: "aggregate", middleware: STRICT };
    await other.api("POST", "/endpoints", { name: "strict", ...strict });
    const key = await other.key();
    const clients = await Promise.all(
      gateways.map((gateway) =>
        until(async () => await teamClient(gateway, "strict", { key }).catch(() => undefined)),
      ),
    );
    proxy.slow(30);

    const answered: string[] = [];
    let over = false;
    const [, ofOther] = clients.map((client, at) =>
      [1, 2, 3].map(async (worker) => {
        for (let n = 0; n < 50 && !over; n++) {
          const message = `${at} ${worker} ${n}`;
          const answer = await client.call("fix__echo", { message }).catch(() => undefined);
          if (answer === message) answered.push(message);
          else if (at === 0) return;
        }
      }),
    );
    const of = (at: number): string[] => answered.filter((message) => message.startsWith(`${at} `));
    await until(() => of(0).length >= 6 && of(1).length >= 6);
    await killed.kill("SIGKILL");
    over = true;
    await Promise.all(ofOther ?? []);

    const records = await auditRecords(other, "&kind=call&tool=echo", answered.length);
    const recorded = new Set(records.map(messageOf));
    expect(answered.filter((message) => !recorded.has(message))).toEqual([]);
    const begun = (await auditRecords(other, "&kind=begun&tool=echo")).length;
    const started = journal.events("message").filter(({ tool }) => tool === "echo").length;
    expect(begun).toBeGreaterThanOrEqual(started);
    // What the killed gateway had sent may still be committed.
    await until(async () => {
      const { body } = await other.api("GET", "/audit/verify");
      const of = async (kind: string): Promise<number> =>
        (await auditRecords(other, `&kind=${kind}&tool=echo`)).length;
      return body.ok && (body.unfinished ?? 0) === (await of("begun")) - (await of("call"));
    });
  });
});

const messageOf = ({ arguments: args }: Row): string => (args as { message: string }).message;
