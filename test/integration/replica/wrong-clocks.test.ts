/** A self-test and a login through a balancer without affinity, while the clocks of the replicas are wrong. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { clockOff, HOUR } from "../../support/clock-off.ts";
import { HEADERS } from "../../support/http-gateway.ts";
import { signingMachine } from "../../support/machine-client.ts";
import { OAuthClient } from "../../support/oauth-client.ts";
import { onPostgres, startReplica } from "../../support/replicas.ts";
import { atEnd, shared } from "../../support/shared.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { fixture } from "../../support/temp.ts";
import { postgresDatabase } from "../../support/test-databases.ts";

/** Passes each request on to the next of the targets. */
async function roundRobin(targets: readonly TeamProcess[]): Promise<string> {
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const target = targets[turn++ % targets.length] as TeamProcess;
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

onPostgres("through a balancer to replicas whose clocks are two hours apart", () => {
  const given = shared(async () => {
    const database = await postgresDatabase();
    const all: TeamProcess[] = [];
    const url = await roundRobin(all);
    const flags = ["--replica-address", "127.0.0.1:0", "--drain", "0", "--public-url", url];
    for (const ms of [-HOUR, HOUR]) all.push(await startReplica(database, { flags, env: clockOff(ms) }));
    const [one] = all as [TeamProcess];
    await one.api("POST", "/mcp-servers", { name: "fix", ...fixture() });
    await one.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
    const { body } = await one.api("POST", "/endpoints", { name: "team", namespaces: ["team"] });
    return { all, url, endpoint: body.uuid };
  });

  test("each says at start that its clock is wrong", () => {
    const said = given().all.map(({ stderr }) => /clock of this machine is (\d+) s (\w+)/.exec(stderr));
    expect(said.map((one) => [Math.round(Number(one?.[1]) / 3_600), one?.[2]])).toEqual([
      [1, "behind"],
      [1, "ahead"],
    ]);
  });

  test("a self-test passes, whichever replicas its requests reach", async () => {
    const { all, endpoint } = given();
    for (const gateway of all) {
      const tested = await gateway.api("POST", `/endpoints/${endpoint}/self-test`);
      expect(tested.status, JSON.stringify(tested.body)).toBe(200);
      expect(tested.body.ok, JSON.stringify(tested.body)).toBe(true);
    }
  });

  test("the former text of a key is valid for as long as whoever rotates it says", async () => {
    const { all } = given();
    for (const [at, gateway] of all.entries()) {
      const endpoints = "all";
      const { body } = await gateway.api("POST", "/api-keys", { name: `rotated ${at}`, endpoints });
      const rotated = await gateway.api("POST", `/api-keys/${body.uuid}/rotate`, { overlapHours: 1 });
      expect(rotated.status).toBe(200);
      for (const [place, other] of all.entries())
        for (const key of [body.key, rotated.body.key])
          expect([place, await statusOf(other, key)]).toEqual([place, 200]);
      const left = Date.parse(rotated.body.overlapUntil) - Date.now();
      expect(Math.round(left / HOUR)).toBe(1);
    }
  });

  test("a client of OAuth gets tokens that all of them take, and new ones", async () => {
    const { all, url } = given();
    const [one] = all as [TeamProcess];
    const login = { email: "ada@example.org", password: "correct horse battery staple" };
    const { body } = await one.api("POST", "/users", { email: login.email, role: "member" });
    const code = new URL(body.invitation.url).pathname.split("/").at(-1);
    await one.api("POST", `/invitations/${code}`, { password: login.password });
    // Each login begins at the other replica.
    for (let n = 0; n < 2; n++) {
      const client = new OAuthClient(url, { endpoint: "team" });
      await client.register();
      const page = await client.logIn(login);
      const first = await client.exchange(page.url.searchParams.get("code") ?? page.text);
      expect(first.status, JSON.stringify(first.body)).toBe(200);
      const next = await client.refresh(first.body.refresh_token);
      for (const { body: tokens } of [first, next])
        for (const gateway of all) expect(await statusOf(gateway, tokens.access_token)).toBe(200);
      // An odd number of requests in all.
      await fetch(`${url}/healthz`);
    }
  });
});

onPostgres("at a replica whose clock is an hour behind", () => {
  test("an assertion of a machine client counts until it has expired, and not again afterwards", async () => {
    const flags = ["--replica-address", "127.0.0.1:0", "--drain", "0"];
    const late = await startReplica(await postgresDatabase(), { flags, env: clockOff(-HOUR) });
    await late.api("POST", "/mcp-servers", { name: "fix", ...fixture() });
    await late.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
    await late.api("POST", "/endpoints", { name: "one", namespaces: ["team"] });
    const machine = await signingMachine(late);
    const nowS = Math.floor(Date.now() / 1_000);
    const statusAt = async (exp: number) =>
      (await machine.tokenBy(await machine.assertion({ iat: nowS - 7_200, exp }))).status;
    expect(await statusAt(nowS + 60)).toBe(200);
    expect(await statusAt(nowS - 600)).toBe(401);
    expect(await statusAt(nowS + 2 * 3_600)).toBe(401);
  });
});

async function statusOf({ url }: TeamProcess, token: string): Promise<number> {
  const headers = { ...HEADERS, authorization: `Bearer ${token}` };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  return (await fetch(`${url}/metamcp/team/mcp`, { method: "POST", headers, body })).status;
}
