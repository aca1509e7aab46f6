import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { sqliteDatabase } from "../../../test/support/test-databases.ts";
import { uuidV7 } from "../../gateway/uuid.ts";
import type { Call } from "../../kernel/call.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { type ApprovalChanged, Events } from "../../kernel/events.ts";
import { silentLog } from "../../kernel/log.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { CallSignal } from "../../kernel/signal.ts";
import { callOf, newTrail, type TestCall } from "../../middleware/layer.fixture.ts";
import type { Store } from "../../store/store.ts";
import { ApprovalQueue } from "./approval-queue.ts";

const ada: Principal = { id: "u1", kind: "account", name: "ada@x.org", roles: ["member"], groups: ["leads"] };
const lead: Principal = {
  id: "u2",
  kind: "account",
  name: "lou@x.org",
  roles: ["member"],
  groups: ["leads"],
};
const other: Principal = { id: "u3", kind: "account", name: "eve@x.org", roles: ["editor"], groups: [] };
const admin: Principal = { id: "root", kind: "token", name: "admin token", roles: ["admin"], groups: [] };
const terms = { by: { groups: ["leads"] }, withinMs: 60_000, reason: "policy, rule 1" };

async function queue(store?: Store) {
  const opened = store ?? (await sqliteDatabase().open());
  const clock = new ManualClock();
  const events = new Events();
  const told: ApprovalChanged[] = [];
  events.on((event) => {
    if (event.type === "approval") told.push(event);
  });
  const made = new ApprovalQueue({
    store: opened,
    shared: true,
    clock,
    events,
    log: silentLog,
    newId: () => uuidV7(Date.now(), randomBytes(10)),
    endpointName: () => "dev",
  });
  await made.load();
  onTestFinished(() => made.close());
  const wait = async (wanted: TestCall = {}, more = {}) => {
    const call = callOf({ principal: ada, ...wanted });
    const before = made.list(admin).length;
    const answer = made.wait(call, { ...terms, ...more }).then(
      () => "made",
      (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
    );
    await expect.poll(() => made.list(admin).length).toBe(before + 1);
    const { uuid = "" } = made.list(admin).find(({ state }) => state === "waiting") ?? {};
    return { call, answer, uuid };
  };
  return { made, clock, told, wait, store: opened };
}

const code = (expected: string) => expect.objectContaining({ name: "Refusal", code: expected });
const abort = ({ signal }: Call, text: string) => (signal as CallSignal).abort(new Error(text));

test("a call continues after an approval by somebody who may decide, and can be decided once", async () => {
  const { made, wait, told } = await queue();
  const trail = newTrail();
  const { answer, uuid } = await wait({ args: { n: 1 }, more: { trail } });
  expect(made.list(lead)).toMatchObject([
    {
      uuid,
      state: "waiting",
      name: "one:echo",
      arguments: { n: 1 },
      decidable: true,
      endpoint: { name: "dev" },
    },
  ]);
  expect(made.list(other)).toEqual([]);
  expect(made.list(ada)).toMatchObject([{ uuid, decidable: false }]);
  const yes = (principal: Principal) => made.decide(uuid, { approve: true, principal });
  await expect(made.decide("none", { approve: true, principal: admin })).rejects.toEqual(code("not_found"));
  await expect(yes(other)).rejects.toEqual(code("not_yours"));
  await expect(yes(ada), "nobody may approve their own call").rejects.toEqual(code("not_yours"));
  expect(await yes(lead)).toMatchObject({ state: "approved", decidedBy: { id: "u2" }, decidable: false });
  expect(await answer).toBe("made");
  await expect(yes(admin)).rejects.toEqual(code("decided"));
  expect(trail.approval).toMatchObject({ uuid, by: { name: "lou@x.org" } });
  expect(told.map(({ state, uuid: of }) => [state, of])).toEqual([
    ["waiting", uuid],
    ["approved", uuid],
  ]);
  expect(JSON.stringify(told)).not.toContain("arguments");
});

test("administrators may approve their own calls", async () => {
  const { made, wait } = await queue();
  const { answer, uuid } = await wait({ principal: admin });
  await made.decide(uuid, { approve: true, principal: admin });
  expect(await answer).toBe("made");
});

test("a role in by includes roles with more rights", async () => {
  const { made, wait } = await queue();
  const { uuid, answer } = await wait({}, { by: { roles: ["viewer"] } });
  await expect(made.decide(uuid, { approve: true, principal: lead })).rejects.toEqual(code("not_yours"));
  await made.decide(uuid, { approve: true, principal: other });
  expect(await answer).toBe("made");
});

test("of many simultaneous decisions exactly one counts", async () => {
  const { made, wait } = await queue();
  const { uuid, answer } = await wait();
  const decisions = await Promise.allSettled(
    Array.from({ length: 8 }, (_, n) => made.decide(uuid, { approve: n % 2 === 0, principal: admin })),
  );
  const [counted, ...others] = decisions.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  expect(others).toEqual([]);
  expect((await answer) === "made").toBe(counted?.state === "approved");
});

test("a refused, expired or cancelled call is not made", async () => {
  const { made, wait, clock } = await queue();
  const first = await wait();
  await made.decide(first.uuid, { approve: false, principal: lead, comment: "not on a Friday" });
  expect(await first.answer).toBe(
    "forbidden: one:echo needs an approval, and it was refused (not on a Friday). Do not try again. Nothing was done.",
  );
  const late = await wait();
  clock.advance(60_000);
  expect(await late.answer).toMatch(/^forbidden: .*nobody approved it in time/);
  await expect(made.decide(late.uuid, { approve: true, principal: admin })).rejects.toEqual(code("decided"));
  const gone = await wait();
  abort(gone.call, "changed my mind");
  expect(await gone.answer).toMatch(/changed my mind/);
  await expect
    .poll(() => made.list(admin).map(({ state }) => state))
    .toEqual(expect.arrayContaining(["refused", "expired", "withdrawn"]));
  await expect(made.decide(gone.uuid, { approve: true, principal: admin })).rejects.toEqual(code("decided"));
});

test("a client with a progress token gets progress until the decision", async () => {
  const { made, wait, clock } = await queue();
  const told: string[] = [];
  const uplink = {
    notify: (_: string, params: unknown) => void told.push(String(params)),
    request: () => Promise.reject(new Error("nobody")),
  };
  const params = Buffer.from('{"name":"echo","_meta":{"progressToken":"t"}}') as never;
  const { uuid, answer } = await wait({ more: { uplink, params } });
  clock.advance(12_000);
  const heard = told.map((text) => JSON.parse(text));
  expect(heard.map(({ progressToken, total }) => [progressToken, total])).toEqual([
    ["t", 1],
    ["t", 1],
    ["t", 1],
  ]);
  expect(heard.map(({ progress }) => progress)).toEqual(heard.map(({ progress }) => progress).sort());
  await made.decide(uuid, { approve: true, principal: admin });
  await answer;
  clock.advance(60_000);
  expect(told).toHaveLength(3);
});

test("approvers see exactly the arguments that would be sent, with secrets masked", async () => {
  const { made, wait, store } = await queue();
  await wait({ written: '{"id": 12345678901234567890}' });
  await wait({ args: { password: "hunter2-hunter2", note: "see token=abcdefgh", key: "PROJ-1" } });
  expect(made.list(admin).map((one) => one.arguments)).toEqual([
    { id: "12345678901234567890 (a number)" },
    {
      password: "[secret, 15 characters hidden]",
      note: "see token=[secret, 8 characters hidden]",
      key: "PROJ-1",
    },
  ]);
  const kept = JSON.stringify(await store.records.list("approval"));
  expect(kept).not.toMatch(/hunter2|PROJ-1/);
  const twice = made.wait(callOf({ principal: ada, written: '{"n": 1, "n": 2}' }), terms);
  await expect(twice).rejects.toThrow(/contain "n" twice/);
});

test("a caller cannot hide arguments from approvers", async () => {
  const { made, wait } = await queue();
  const long = `${"n".repeat(100_000)}; rm -rf /srv`;
  await wait({ args: { command: "rm -rf /srv/data; : Bearer aaaaaaaa" } });
  await wait({ args: { note: long, path: "/everything", name: "a\u202Eb" } });
  const [first, second] = made.list(admin).map((one) => one.arguments as Record<string, string>);
  expect(first).toEqual({ command: "rm -rf /srv/data; : Bearer [secret, 8 characters hidden]" });
  expect(second?.["note"]).toMatch(/^n+ … \d+ characters left out … n+; rm -rf \/srv$/);
  expect(second).toMatchObject({ path: "/everything", name: "a\\u{202e}b" });
});

test("the number of waiting calls of a principal is limited", async () => {
  const { made } = await queue();
  const call = () => callOf({ principal: ada });
  for (let n = 0; n < 50; n += 1) void made.wait(call(), terms).catch(() => {});
  await expect(made.wait(call(), terms)).rejects.toThrow(/too many calls are waiting/);
});

test("a decision at another gateway reaches the call, and calls of a stopped gateway cannot be decided", async () => {
  const { made, wait, store, told } = await queue();
  const far = await queue(store);
  const { uuid, answer } = await wait();
  await expect.poll(() => far.made.list(lead).map(({ state }) => state)).toEqual(["waiting"]);
  await far.made.decide(uuid, { approve: true, principal: lead });
  expect(await answer).toBe("made");
  expect(told.map(({ state }) => state)).toEqual(["waiting", "approved"]);
  expect(far.told.map(({ state }) => state)).toEqual(["waiting", "approved"]);
  const left = await wait();
  await made.close();
  expect(await left.answer).toMatch(/^server_unavailable: .*stopping/);
  await expect
    .poll(() => far.made.list(admin).find((one) => one.uuid === left.uuid)?.state)
    .toBe("withdrawn");
  await expect(far.made.decide(left.uuid, { approve: true, principal: lead })).rejects.toEqual(
    code("decided"),
  );
});

test("waiting calls of a dead gateway are withdrawn when its lease expires", async () => {
  const { wait, store } = await queue();
  const { uuid } = await wait();
  const far = await queue(store);
  for (const { id } of await store.records.list("approval-holder"))
    await store.records.put({ kind: "approval-holder", id, value: { until: Date.now() - 1 } });
  await expect.poll(() => far.made.list(lead).map(({ state }) => state)).toEqual(["withdrawn"]);
  await expect(far.made.decide(uuid, { approve: true, principal: lead })).rejects.toEqual(code("decided"));
});
