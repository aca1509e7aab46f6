/** The self-test of an endpoint through a balancer without affinity. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { onPostgres, startReplica } from "../../support/replicas.ts";
import { atEnd } from "../../support/shared.ts";
import type { TeamGateway } from "../../support/team-gateway.ts";
import { fixture } from "../../support/temp.ts";
import { postgresDatabase } from "../../support/test-databases.ts";

/** Passes each request on to the next of the targets. */
async function roundRobin(targets: readonly TeamGateway[]): Promise<string> {
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const target = targets[turn++ % targets.length] as TeamGateway;
    const { method, headers } = incoming;
    const passed = request(new URL(incoming.url ?? "/", target.url), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

onPostgres("a self-test through a balancer", () => {
  test("passes, whichever replicas its requests reach", async () => {
    const database = await postgresDatabase();
    const all: TeamGateway[] = [];
    const url = await roundRobin(all);
    const flags = ["--replica-address", "127.0.0.1:0", "--drain", "0", "--public-url", url];
    for (let n = 0; n < 2; n++) all.push(await startReplica(database, { flags }));
    const [one] = all as [TeamGateway];
    await one.api("POST", "/mcp-servers", { name: "fix", ...fixture() });
    await one.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
    const { body } = await one.api("POST", "/endpoints", { name: "team", namespaces: ["team"] });
    for (const gateway of all) {
      const tested = await gateway.api("POST", `/endpoints/${body.uuid}/self-test`);
      expect(tested.status, JSON.stringify(tested.body)).toBe(200);
      expect(tested.body.ok, JSON.stringify(tested.body)).toBe(true);
    }
  });
});
