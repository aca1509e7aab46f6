/**
 * Servers that each account uses with its own credential: one connection per account, kept apart from the
 * others.
 */
import { afterEach, expect, test } from "vitest";
import { flushPending, originOf, ScriptedServer, specOf } from "../../test/support/scripted-server.ts";
import { emptyConfig } from "../config/check.ts";
import type { ServerSpec } from "../config/spec.ts";
import { filledIn } from "../config/user-values.ts";
import type { Call } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { credentialIn } from "../kernel/list-key.ts";
import { silentLog } from "../kernel/log.ts";
import { ANONYMOUS } from "../kernel/principal.ts";
import { fromRaw, toRaw } from "../kernel/raw.ts";
import { type KnownRoots, noRoots } from "../kernel/roots.ts";
import { Secret } from "../kernel/secret.ts";
import { CallSignal } from "../kernel/signal.ts";
import { Fleet } from "./fleet.ts";
import { ChildFailure } from "./link.ts";

const open: Fleet[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((fleet) => fleet.destroy()));
});

const TEMPLATE = specOf("mail", { perAccount: "values", env: { TOKEN: new Secret(`\${user.secret.MAIL}`) } });
const configOf = (spec: ServerSpec) => ({ ...emptyConfig("", {}), servers: new Map([["mail", spec]]) });

function setUp(spec = TEMPLATE) {
  const server = new ScriptedServer();
  const tokens = new Map<string, string>();
  const made = new Map<string, ServerSpec>();
  const handshakes: string[] = [];
  const fleet = new Fleet(configOf(spec), {
    clock: new ManualClock(),
    log: silentLog,
    connector: async () => server,
    eraOf: () => undefined,
    onHandshake: async ({ key }) => void handshakes.push(credentialIn(key)),
    onListChanged: () => {},
    credentials: {
      of(base, account) {
        const token = account === undefined ? undefined : tokens.get(account);
        if (token === undefined) return new MetaMcpError("auth_required", "log in at …", { server: "mail" });
        const id = JSON.stringify([account, token, base === spec]);
        const own = made.get(id) ?? filledIn(base, new Map([["secret.MAIL", token]]), `${account}.${token}`);
        made.set(id, own);
        return own;
      },
    },
  });
  open.push(fleet);
  const as = (account: string, session = account) =>
    originOf(session, { principal: { id: account, kind: "account", roles: [], groups: [] } });
  const call = (origin = originOf("s")): Call => ({
    server: "mail",
    method: "tools/call",
    params: toRaw({}),
    origin,
    uplink: origin.uplink,
    signal: new CallSignal(),
    deadline: Number.POSITIVE_INFINITY,
    repeat: "safe",
  });
  const tokenOf = ({ spec: dialled }: { spec: ServerSpec }): string | undefined =>
    dialled.kind === "stdio" ? dialled.env["TOKEN"]?.reveal() : undefined;
  /**
   * So many other accounts use the server that children without connections are removed. Starts no process.
   */
  const crowd = async (): Promise<void> => {
    const method = "resources/unsubscribe";
    const params = toRaw({ uri: "x:" });
    for (let other = 0; other <= 1_000; other++) {
      tokens.set(`other ${other}`, "t");
      await fleet.handle({ ...call(as(`other ${other}`)), method, params });
    }
  };
  return { fleet, server, tokens, handshakes, as, call, tokenOf, crowd };
}

/** Roots of a client that answers when the test says so. */
function slowRoots() {
  const waiting: ((known: KnownRoots) => void)[] = [];
  const roots: { known: KnownRoots | undefined; ask(): Promise<KnownRoots> } = {
    known: undefined,
    ask: () => new Promise((resolve) => waiting.push(resolve)),
  };
  const answer = (): void => {
    const known = noRoots("it has none");
    roots.known = known;
    for (const resolve of waiting) resolve(known);
  };
  return { roots, answer };
}

test("all clients of one account share a connection with its credential", async () => {
  const { fleet, server, tokens, handshakes, as, tokenOf } = setUp();
  tokens.set("ada", "a-token").set("bob", "b-token");
  for (const origin of [as("ada", "1"), as("ada", "2"), as("bob", "3")])
    (await fleet.connect("mail", origin)).release();
  expect(server.links.map(tokenOf)).toEqual(["a-token", "b-token"]);
  expect(handshakes).toEqual(["ada.a-token", "bob.b-token"]);
  expect(fleet.connected("mail", as("ada", "9"))).toBe(true);
  expect(fleet.connected("mail", as("eve"))).toBe(false);
  expect(fleet.counts().states.idle).toBe(2);
});

test("a caller without a credential gets auth_required and starts no server", async () => {
  const { fleet, server, as, call } = setUp();
  for (const origin of [as("ada"), originOf("s"), originOf("s", { principal: ANONYMOUS })]) {
    await expect(fleet.connect("mail", origin)).rejects.toMatchObject({ code: "auth_required" });
    await expect((async () => await fleet.handle(call(origin)))()).rejects.toMatchObject({
      code: "auth_required",
    });
    const [status] = fleet.status(origin);
    expect(status).toMatchObject({ state: "failed", connected: false, reason: "auth_required: log in at …" });
  }
  expect(fleet.status()).toMatchObject([{ state: "idle", connected: false }]);
  await fleet.ensureConnected("mail", originOf("s"), true);
  expect(server.links).toEqual([]);
});

test("a changed credential applies to the next call, and calls in flight finish with the old one", async () => {
  const { fleet, server, tokens, as, call, tokenOf } = setUp();
  tokens.set("ada", "old");
  (await fleet.connect("mail", as("ada"))).release();
  const first = fleet.handle(call(as("ada")));
  tokens.set("ada", "new");
  const second = fleet.handle(call(as("ada")));
  await flushPending();
  const [old, fresh] = server.links;
  expect([old, fresh].map((link) => link && tokenOf(link))).toEqual(["old", "new"]);
  old?.answerNext({ n: 1 });
  fresh?.answerNext({ n: 2 });
  expect([fromRaw(await first), fromRaw(await second)]).toEqual([{ n: 1 }, { n: 2 }]);
  await flushPending();
  expect([old?.closed, fresh?.closed]).toEqual([true, false]);
});

test("a logout disconnects that account and no other", async () => {
  const { fleet, server, tokens, as } = setUp();
  tokens.set("ada", "a").set("bob", "b");
  for (const account of ["ada", "bob"]) (await fleet.connect("mail", as(account))).release();
  tokens.delete("ada");
  fleet.credentialsChanged();
  await flushPending();
  expect(server.links.map(({ closed }) => closed)).toEqual([true, false]);
  await expect(fleet.connect("mail", as("ada"))).rejects.toMatchObject({ code: "auth_required" });
});

test("a credential that makes the server fail blocks it only for that account", async () => {
  const { fleet, server, tokens, as } = setUp();
  tokens.set("ada", "bad").set("bob", "good");
  server.failure = new ChildFailure("stdio-exit", "its token is wrong");
  for (let turn = 0; turn < 6; turn++) await fleet.connect("mail", as("ada")).catch(() => {});
  server.failure = undefined;
  expect(fleet.status(as("ada"))[0]?.reason).toContain("blocked");
  (await fleet.connect("mail", as("bob"))).release();
  expect(fleet.status(as("bob"))[0]).toMatchObject({ state: "idle", connected: true });
});

test("a server that changes between shared and per-account credentials keeps no old connection", async () => {
  const { fleet, server, tokens, as, tokenOf } = setUp();
  tokens.set("ada", "a");
  (await fleet.connect("mail", as("ada"))).release();
  const shared = specOf("mail", { env: { TOKEN: new Secret("team") } });
  fleet.apply(configOf(shared));
  await flushPending();
  expect(server.links.map(({ closed }) => closed)).toEqual([true]);
  (await fleet.connect("mail", as("bob"))).release();
  expect(server.links.map(tokenOf)).toEqual(["a", "team"]);
  fleet.apply(configOf(TEMPLATE));
  await flushPending();
  expect(server.links.map(({ closed }) => closed)).toEqual([true, true]);
  await expect(fleet.connect("mail", as("bob"))).rejects.toMatchObject({ code: "auth_required" });
});

test("a caller that waits for a connection is told why its child is removed", async () => {
  const { fleet, server, tokens, as } = setUp();
  server.silent = true;
  tokens.set("ada", "a");
  const failure = async (change: () => void): Promise<unknown> => {
    const connecting = fleet.connect("mail", as("ada")).catch((error: unknown) => error);
    await flushPending();
    change();
    return await connecting;
  };
  const logOut = () => {
    tokens.delete("ada");
    fleet.credentialsChanged();
  };
  expect(await failure(logOut)).toMatchObject({ code: "auth_required" });
  tokens.set("ada", "a");
  const shared = await failure(() => fleet.apply(configOf(specOf("mail"))));
  expect(shared).toMatchObject({ code: "server_unavailable", retryable: true });
  const removed = await failure(() => fleet.apply(emptyConfig("", {})));
  expect(removed).toMatchObject({ code: "server_not_found" });
});

test("a child whose first call waits for the client's roots is not forgotten when there are many accounts", async () => {
  const { fleet, server, tokens, as, call, crowd } = setUp();
  const { roots, answer } = slowRoots();
  tokens.set("ada", "a");
  const answered = fleet.handle(call({ ...as("ada"), roots }));
  await crowd();
  answer();
  await flushPending();
  server.last.answerNext({ n: 1 });
  expect(fromRaw(await answered)).toEqual({ n: 1 });
  expect(fleet.status(as("ada"))).toMatchObject([{ connected: true }]);
  await fleet.destroy();
  expect(server.links.map(({ closed }) => closed)).toEqual([true]);
});

test("a child whose last call finishes on a retired connection is not forgotten when there are many accounts", async () => {
  const { fleet, server, tokens, as, call, crowd } = setUp({ ...TEMPLATE, isolation: "session" });
  tokens.set("ada", "a");
  const answered = fleet.handle(call(as("ada"))).catch((error: unknown) => error);
  await flushPending();
  fleet.sessionEnded("ada");
  await crowd();
  expect(server.links.map(({ closed }) => closed)).toEqual([false]);
  await fleet.destroy();
  expect(server.links.map(({ closed }) => closed)).toEqual([true]);
  expect(await answered).toMatchObject({ code: "server_unavailable" });
});

test("a caller that waits for its roots starts no server once its child is removed", async () => {
  const { fleet, server, tokens, as, call } = setUp();
  const { roots, answer } = slowRoots();
  tokens.set("ada", "a");
  const answered = fleet.handle(call({ ...as("ada"), roots })).catch((error: unknown) => error);
  tokens.delete("ada");
  fleet.credentialsChanged();
  answer();
  expect(await Promise.race([answered, flushPending()])).toMatchObject({ code: "auth_required" });
  expect(server.links).toEqual([]);
});
