/** The layer `flow` over gateways on one store, after a restart, and while the store is away. */
import { expect, test } from "vitest";
import { cutProxy } from "../../support/cut-proxy.ts";
import { RawSession } from "../../support/replica-team.ts";
import { onPostgres, type Replica, request2026, startReplica } from "../../support/replicas.ts";
import { shared } from "../../support/shared.ts";
import { countStatements } from "../../support/statements.ts";
import { type TeamProcess, teamProcess } from "../../support/team-process.ts";
import { fixture, temp } from "../../support/temp.ts";
import { postgresAddress, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const APART = { use: "flow", deny: [{ from: "crm:*", to: "web:*" }] };

/** An endpoint with data in one place and a way out in another. */
async function keepApart({ api }: TeamProcess): Promise<void> {
  const crm = fixture("--tasks", "--prompts", "1", "--resources", "1");
  await api("POST", "/mcp-servers", { name: "crm", ...crm });
  await api("POST", "/mcp-servers", { name: "web", ...fixture() });
  const servers = [{ server: "crm" }, { server: "web" }];
  await api("POST", "/namespaces", { name: "team", servers, middleware: [APART] });
  await api("POST", "/endpoints", { name: "team", namespaces: ["team"], surface: "aggregate" });
}

type At = Pick<TeamProcess, "url">;

async function call(at: At, key: string, name: string): Promise<string> {
  const { result } = await request2026(at, "team", key, "tools/call", { name, arguments: { message: "x" } });
  const text = String(result?.content?.[0]?.text);
  return result?.isError ? (text.split(":")[0] ?? "") : text;
}

const read = (at: At, key: string): Promise<string> => call(at, key, "crm__echo");
const write = (at: At, key: string): Promise<string> => call(at, key, "web__echo");

async function untilKnown(gateways: readonly At[], key: string): Promise<void> {
  for (const gateway of gateways)
    await until(async () => (await request2026(gateway, "team", key, "tools/list")).status === 200, {
      what: "the key at every gateway",
    });
}

async function newKey({ one, two }: { one: Replica; two: Replica }): Promise<string> {
  const key = await one.key();
  await untilKnown([one, two], key);
  return key;
}

onPostgres("flow over gateways", () => {
  const counted = countStatements();
  const pair = shared(async () => {
    const database = await postgresDatabase();
    const { host, port } = postgresAddress();
    const proxy = await cutProxy({ host, port }, counted.watch);
    const through = new URL(database.url);
    through.host = `127.0.0.1:${proxy.port}`;
    const one = await startReplica({ url: through.href });
    await keepApart(one);
    return { one, two: await startReplica(database), database, proxy };
  });

  test("what was read at one may not be written at the other, for that principal alone", async () => {
    const { one, two } = pair();
    const [ada, eve] = [await newKey(pair()), await newKey(pair())];
    expect(await write(two, ada)).toBe("x");
    expect(await read(one, ada)).toBe("x");
    expect(await write(two, ada)).toBe("forbidden");
    expect(await write(one, ada)).toBe("forbidden");
    expect(await write(two, eve)).toBe("x");
  });

  test.each([
    ["a prompt", "prompts/get", { name: "crm__prompt_0" }],
    ["a resource", "resources/read", { uri: "fixture://item/0" }],
    ["an error of a server", "tools/call", { name: "crm__fail", arguments: {} }],
  ])("%s counts at the other", async (_what, method, params) => {
    const { one, two } = pair();
    const key = await newKey(pair());
    expect(await write(two, key)).toBe("x");
    expect((await request2026(one, "team", key, method, params)).status).toBe(200);
    expect(await write(two, key)).toBe("forbidden");
  });

  test("what a running call says counts at the other: progress, and the state of a task", async () => {
    const { one, two } = pair();
    const key = await newKey(pair());
    const client = await new RawSession(key).open(one);
    const args = { name: "crm__job", arguments: { until: temp().path("never") }, task: { ttl: 60_000 } };
    const made = await (await client.request(one, "tools/call", args)).text();
    expect(made).toContain("taskId");
    expect(await write(two, key)).toBe("forbidden");

    const other = await newKey(pair());
    const speaking = await new RawSession(other).open(one);
    const progress = { name: "crm__progress", arguments: { n: 1, hang: true } };
    const stream = await speaking.stream(one, "tools/call", { ...progress, _meta: { progressToken: 1 } });
    await stream.next("notifications/progress");
    expect(await write(two, other)).toBe("forbidden");
  });

  test("only calls towards a destination, and the first read, send a statement", async () => {
    const { one } = pair();
    const key = await newKey(pair());
    await read(one, key);
    const statements = (): number => counted.all.filter((text) => text.includes("metamcp_reads")).length;
    const before = statements();
    for (let n = 0; n < 10; n++) await read(one, key);
    expect(statements()).toBe(before);
    const fresh = await newKey(pair());
    for (let n = 0; n < 5; n++) await write(one, fresh);
    expect(statements()).toBe(before + 5);
  });

  test("a gateway that starts later knows it, and expired reads are forgotten by the database's clock", async () => {
    const { one, database } = pair();
    const key = await newKey(pair());
    await read(one, key);
    const three = await startReplica(database);
    expect(await write(three, key)).toBe("forbidden");
    await database.sql("UPDATE metamcp_reads SET until = clock_timestamp() - interval '1 second'");
    expect(await write(three, key)).toBe("x");
    await three.kill("SIGTERM");
  });

  test("without the store a call towards a destination is refused, and so is a read that is not noted", async () => {
    const { one, proxy } = pair();
    const [known, fresh] = [await newKey(pair()), await newKey(pair())];
    await read(one, known);
    await proxy.cut();
    expect(await write(one, fresh)).toBe("server_unavailable");
    expect(await read(one, fresh)).toBe("server_unavailable");
    const prompt = await request2026(one, "team", fresh, "prompts/get", { name: "crm__prompt_0" });
    expect(prompt.error?.message).toMatch(/must be noted/);
    // What the store already has can be read again, and bars without the store too.
    expect(await read(one, known)).toBe("x");
    expect(await write(one, known)).toBe("forbidden");
    await proxy.mend();
    await until(async () => (await read(one, fresh)) === "x");
    expect(await write(one, fresh)).toBe("forbidden");
  });
});

test("on an embedded store a read counts after a restart, also after kill -9", async () => {
  const folder = temp();
  const one = await teamProcess(folder);
  await keepApart(one);
  const [ada, eve] = [await one.key(), await one.key()];
  expect(await read(one, ada)).toBe("x");
  await one.kill("SIGKILL");
  const two = await teamProcess(folder);
  expect(await write(two, ada)).toBe("forbidden");
  expect(await write(two, eve)).toBe("x");
});
