/** The audit log records each connection that a confined server asks its proxy for. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WHY_NOT } from "../../support/confined.ts";
import { auditRecords, type Row } from "../../support/records.ts";
import { teamGateway } from "../../support/team-gateway.ts";
import { FIXTURE, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

/** Asks the proxy inside of its sandbox for tunnels, before the server starts. */
const asking = (...hosts: readonly string[]): string =>
  `--import=data:text/javascript,${encodeURIComponent(
    `import { connect } from "node:net";
     for (const to of ${JSON.stringify(hosts)})
       await new Promise((done) => {
         const socket = connect(3128, "127.0.0.1", () => socket.write("CONNECT " + to + " HTTP/1.1\\r\\n\\r\\n"));
         socket.once("data", () => done(socket.destroy()));
       });`,
  )}`;

test.skipIf(WHY_NOT !== undefined)(
  `connections of a confined server, made and refused${WHY_NOT ? ` (skipped: ${WHY_NOT})` : ""}`,
  async () => {
    const web = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void web.close());
    await until(() => web.listening, { what: "a web server" });
    const here = `127.0.0.1:${(web.address() as AddressInfo).port}`;
    const team = await teamGateway(temp());
    const refused = Array(8).fill("evil.test:443");
    const made = await team.api("POST", "/mcp-servers", {
      name: "out",
      command: process.execPath,
      args: [asking(here, ...refused), FIXTURE],
      sandbox: { network: [here] },
    });
    await team.api("POST", `/mcp-servers/${made.body.uuid}/connect`);
    // Equal attempts of a second are counted, so that a server cannot fill the log.
    const times = (all: readonly Row[]): number => all.reduce((sum, { count = 1 }) => sum + Number(count), 0);
    const [first, ...others] = await until(
      async () => {
        const found = await auditRecords(team, "&kind=egress");
        return times(found) === 9 ? found : undefined;
      },
      { what: "records of all attempts" },
    );
    expect(first).toMatchObject({
      server: { uuid: made.body.uuid, name: "out" },
      outcome: "ok",
      address: here,
    });
    for (const other of others)
      expect(other).toMatchObject({
        outcome: "refused",
        address: "evil.test:443",
        reason: expect.stringContaining('is not in the "network"'),
      });
  },
);
