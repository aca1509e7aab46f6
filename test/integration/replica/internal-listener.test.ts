/**
 * The listener between replicas, for somebody who has its key: what it answers, and what it does not believe.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { ChannelAgent } from "../../../src/replica/channel.ts";
import { endpointOf } from "../../../src/replica/endpoint-of.ts";
import { HopChannel } from "../../../src/replica/hop-channel.ts";
import { cutProxy } from "../../support/cut-proxy.ts";
import { HEADERS } from "../../support/http-gateway.ts";
import { RawSession, replicas, type Team } from "../../support/replica-team.ts";
import { onPostgres, SECRET } from "../../support/replicas.ts";
import { atEnd, shared } from "../../support/shared.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { postgresDatabase } from "../../support/test-databases.ts";
import { TestPassage } from "../../support/test-passage.ts";

/** The type of a TLS record that has no part of the handshake. */
const APPLICATION_DATA = 0x17;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends requests to the internal listener of the first replica, with this key. */
class Insider {
  readonly #agent: ChannelAgent;
  readonly #address: string;
  readonly id: string;

  constructor(key: Buffer, { id, address }: { id: string; address: string }) {
    this.#agent = new ChannelAgent(key, "insider");
    atEnd(() => this.#agent.destroy());
    this.#address = address;
    this.id = id;
  }

  send(path: string, { method = "GET", headers = {}, body }: Sent = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const options = { ...endpointOf(this.#address), agent: this.#agent, path, method, headers };
      const sent = httpRequest(options, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => (text += part));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      });
      sent.on("error", reject).end(body);
    });
  }

  /** As a replica passes requests on, to a replica of this id. */
  pass(sent: ConstructorParameters<typeof TestPassage>[0], to = this.id): TestPassage["whole"] {
    const target = { id: to, address: this.#address };
    const channel = new HopChannel({ agent: this.#agent, self: "00000000", target, onClosed: () => {} });
    const passage = new TestPassage(sent);
    channel.pass(passage);
    return passage.whole.finally(() => channel.destroy());
  }

  /** Passes a message on. */
  forward(body: object, headers: Record<string, string> = {}, to = this.id): TestPassage["whole"] {
    const text = JSON.stringify({ jsonrpc: "2.0", ...body });
    return this.pass({ url: "/metamcp/team/mcp", headers: { ...HEADERS, ...headers }, body: text }, to);
  }
}

async function channelKey({ database }: Pick<Team, "database">): Promise<Buffer> {
  const store = await database.open({ env: SECRET });
  return store.sealer.derive("replica channel");
}

onPostgres("the listener between replicas", () => {
  const given = shared(async () => {
    const team = await replicas(1);
    const [one] = team.replicas as [TeamProcess];
    const [row] = (await one.api("GET", "/replicas")).body.items;
    const key = await channelKey(team);
    return { team, one, row, insider: new Insider(key, row) };
  });
  const list = { id: 1, method: "tools/list", params: {} };

  test("a broken escape in a path ends nothing", async () => {
    const { insider } = given();
    const headers = { "metamcp-replica-to": insider.id, "metamcp-replica-from": "00000000" };
    expect((await insider.send("/placed/%E0%A4", { headers })).status).toBe(404);
  });

  test("refuses another key, and that of an older store with the same METAMCP_SECRET_KEY", async () => {
    const older = await channelKey({ database: await postgresDatabase() });
    for (const key of [randomBytes(32), Buffer.alloc(32), older])
      await expect(new Insider(key, given().row).send("/replica")).rejects.toThrow();
    expect(await given().insider.send("/replica")).toMatchObject({ status: 200, text: given().row.id });
  });

  test("has no route of the public one, and answers no browser", async () => {
    const { insider } = given();
    const headers = { "metamcp-replica-to": insider.id };
    for (const path of ["/", "/readyz", "/api/v1/replicas", "/metamcp/team/mcp", "/token"])
      expect([path, (await insider.send(path, { headers })).status]).toEqual([path, 404]);
    for (const url of ["", "/", "/readyz", "//metamcp/team/mcp", "/token", "/ask/store"])
      expect([url, (await insider.pass({ url, method: "GET" })).status]).toEqual([url, 404]);
    // Requests of administrators are passed on, and log in again here.
    for (const url of ["/api/v1/replicas", "/metamcp/../api/v1/replicas"])
      expect([url, (await insider.pass({ url, method: "GET" })).status]).toEqual([url, 401]);
    for (const headers of [
      { origin: "null" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-mode": "navigate" },
    ])
      expect((await insider.send("/replica", { headers })).status).toBe(403);
  });

  test("believes nobody's word for who is asking", async () => {
    const { insider, team, one } = given();
    expect((await insider.forward(list)).status).toBe(401);
    expect((await insider.forward(list, { "x-api-key": "mmcp_wrong" })).status).toBe(401);
    const session = await new RawSession(team.key).open(one);
    const other = await one.key();
    const stolen = { "x-api-key": other, "mcp-session-id": session.id };
    expect((await insider.forward(list, stolen)).status).toBe(404);
    const own = { "x-api-key": team.key, "mcp-session-id": session.id };
    expect((await insider.forward(list, own)).status).toBe(200);
    // A request for another replica is not served here.
    await expect(insider.forward(list, own, "11111111")).rejects.toMatchObject({ as: "broken" });
    expect((await session.request(one, "tools/list")).status).toBe(200);
  });

  test("a session id that was changed or made up is unknown, and a replica that it would name is not asked", async () => {
    const { team, one } = given();
    const session = await new RawSession(team.key).open(one);
    const changed = [...session.id].map((_, at) => {
      const other = session.id[at] === "A" ? "B" : "A";
      return `${session.id.slice(0, at)}${other}${session.id.slice(at + 1)}`;
    });
    for (const id of [
      ...changed,
      "",
      "x",
      session.id.slice(1),
      `${session.id}A`,
      randomBytes(97).toString("base64url"),
    ]) {
      const { status } = await session
        .request(one, "tools/list")
        .then((ok) => (ok.status === 200 ? fetchWith(session, one, id) : ok));
      expect([id, status]).toEqual([id, id === "" ? expect.any(Number) : 404]);
    }
    expect((await session.request(one, "tools/list")).status).toBe(200);
  });

  test("a request that is sent again or changed on its way is not served", async () => {
    const { team, row } = given();
    const { host, port } = endpointOf(row.address);
    const key = await channelKey(team);
    const sent: Buffer[] = [];
    let changes = false;
    const proxy = await cutProxy({ host, port: Number(port) }, () => {
      let records = 0;
      return (bytes) => {
        // The first one opens the connection, the request comes with the second.
        if (bytes[0] === APPLICATION_DATA && ++records === 2 && changes)
          bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
        sent.push(Buffer.from(bytes));
      };
    });
    const through = () => new Insider(key, { ...row, address: `127.0.0.1:${proxy.port}` });
    const count = (name: string) =>
      through().forward(
        { id: 1, method: "tools/call", params: { name: "fix__count", arguments: { key: name } } },
        { "x-api-key": team.key },
      );
    expect((await count("replayed")).text).toContain("replayed 1");

    const again = connect(Number(port), host);
    for (const bytes of sent) again.write(bytes);
    await once(
      again.resume().on("error", () => {}),
      "close",
    );
    expect(team.journal.executions("replayed")).toBe(1);

    changes = true;
    await expect(count("changed")).rejects.toThrow();
    expect(team.journal.executions("changed")).toBe(0);
  });

  test("headers of replicas mean nothing at the public listener", async () => {
    const { team, one, row } = given();
    const session = await new RawSession(team.key).open(one);
    const claimed = {
      "metamcp-replica-to": row.id,
      "metamcp-replica-from": "11111111",
      "metamcp-replica-released": "1",
      "metamcp-replica-client": "203.0.113.9",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    expect((await session.fetch(one, { method: "POST", headers: claimed, body })).status).toBe(200);
    expect((await session.request(one, "tools/list")).status).toBe(200);
    expect(await team.database.sql("SELECT 1 FROM metamcp_sessions")).toEqual([]);
  });
});

function fetchWith(session: RawSession, at: TeamProcess, id: string): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  return session.fetch(at, { method: "POST", body, headers: { "mcp-session-id": id } });
}
