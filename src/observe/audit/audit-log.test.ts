import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { StoreError } from "../../store/error.ts";
import type { Audit, AuditRecord } from "../../store/store.ts";
import { AuditLog } from "./audit-log.ts";

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test("the fault names the audit file if only the file cannot be written", async () => {
  const clock = new ManualClock();
  const appended: number[] = [];
  const audit = {
    append: async (batch: readonly unknown[]) => {
      appended.push(batch.length);
      return { first: 1, hashes: () => ["h"], statements: 1 };
    },
  } as unknown as Audit;
  const log = new AuditLog(audit, { days: 1, file: "/dev/null/none" }, { clock, log: silentLog });
  log.add({ at: 1, body: "{}" });
  await passing(
    clock,
    until(() => log.state.fault !== undefined),
  );
  expect(appended).toEqual([1]);
  expect(log.state).toMatchObject({
    queued: 1,
    lost: 0,
    fault: expect.stringMatching(/^the file of --audit-file: ENOTDIR/),
  });
  expect(log.ready).toBe(true);
});

test("retention uses the earlier of the times at this check and the previous one", async () => {
  const clock = new ManualClock();
  let ahead = 0;
  const pruned: number[] = [];
  const audit = { prune: async (before: number) => pruned.push(before) } as unknown as Audit;
  new AuditLog(audit, { days: 1 }, { clock, log: silentLog, now: () => 100 * DAY + clock.now() + ahead });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise(setImmediate);
  };
  await pass(60_000);
  ahead = 365 * DAY;
  await pass(HOUR);
  ahead = 0;
  await pass(HOUR);
  await pass(HOUR);
  expect(pruned.map((before) => Math.floor((before - 99 * DAY) / HOUR))).toEqual([0, 0, 2, 2]);
  ahead = 365 * DAY;
  await pass(HOUR);
  await pass(HOUR);
  expect((pruned.at(-1) ?? 0) - 99 * DAY).toBeGreaterThan(365 * DAY);
});

/** A store that answers, hangs or fails on command, and keeps what it got. */
function memoryStore() {
  const records: AuditRecord[] = [];
  const state = { answer: (): Promise<void> => Promise.resolve() };
  const audit = {
    append: async (batch: readonly AuditRecord[]) => {
      await state.answer();
      records.push(...batch);
      return {
        first: records.length - batch.length + 1,
        hashes: () => batch.map(({ at }) => `h${at}`),
        statements: 1,
      };
    },
    query: async () => ({
      items: records.map(({ at, body }, seq) => ({ seq, at, body: JSON.parse(body) as unknown, hash: "" })),
    }),
    prune: async () => 0,
  } as unknown as Audit;
  return { audit, records, state };
}

const hang = (): Promise<void> => new Promise(() => {});
const fail = (): Promise<void> => Promise.reject(new StoreError("unavailable", "away"));
const record = (at: number, owner = "ada") => ({ at, body: `{"n":${at}}`, owner });
const bodies = (records: readonly AuditRecord[]): readonly string[] => records.map(({ body }) => body);

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "metamcp-audit-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** Advances the clock until the promise settles. */
async function passing<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let settled = false;
  void work.then(
    () => (settled = true),
    () => (settled = true),
  );
  while (!settled) {
    clock.advance(50);
    await new Promise(setImmediate);
  }
  return await work;
}

test("a required record is stored before its promise resolves, and without waiting for the next batch", async () => {
  const clock = new ManualClock();
  const { audit, records, state } = memoryStore();
  const log = new AuditLog(audit, { days: 1 }, { clock, log: silentLog });
  log.add(record(1));
  const stored = log.addRequired(record(2)).then(() => bodies(records));
  clock.advance(0);
  expect(await stored).toEqual(['{"n":1}', '{"n":2}']);
  state.answer = hang;
  await expect(passing(clock, log.addRequired(record(3)))).rejects.toThrow("does not answer");
  expect(log.ready).toBe(false);
});

test("a required record waits for a store that is away for a moment, and not for one that is away for long", async () => {
  const clock = new ManualClock();
  const { audit, records, state } = memoryStore();
  const log = new AuditLog(audit, { days: 1 }, { clock, log: silentLog });
  state.answer = fail;
  const stored = log.addRequired(record(1));
  for (let ms = 0; ms < 4_000; ms += 50) {
    clock.advance(50);
    await new Promise(setImmediate);
  }
  expect([log.state.fault, log.ready]).toEqual([expect.any(String), true]);
  state.answer = () => Promise.resolve();
  await passing(clock, stored);
  expect(bodies(records)).toEqual(['{"n":1}']);

  state.answer = fail;
  await expect(passing(clock, log.addRequired(record(2)))).rejects.toThrow("does not answer");
  expect(log.ready).toBe(false);
});

test("what a stopping gateway could not write is kept in a private file and added at the next start, once", async () => {
  const clock = new ManualClock();
  const unwritten = join(folder(), "gateway", "unwritten.jsonl");
  const { audit, records, state } = memoryStore();
  const options = { days: 1, unwritten };
  const first = new AuditLog(audit, options, { clock, log: silentLog });
  for (let at = 1; at <= 1_200; at++) first.add(record(at));
  // The first batch arrives, but its answer does not.
  state.answer = hang;
  clock.advance(50);
  await new Promise(setImmediate);
  records.push(...Array.from({ length: 500 }, (_, n) => record(n + 1)));
  await passing(clock, first.close());
  expect(statSync(unwritten).mode & 0o777).toBe(0o600);
  expect(readFileSync(unwritten, "utf8").trim().split("\n")).toHaveLength(1_200);

  state.answer = () => Promise.resolve();
  const second = new AuditLog(audit, options, { clock, log: silentLog });
  await second.start();
  expect(bodies(records)).toEqual(Array.from({ length: 1_200 }, (_, n) => `{"n":${n + 1}}`));
  await second.start();
  expect(records).toHaveLength(1_200);
  expect(() => statSync(unwritten)).toThrow("ENOENT");
});

test("records that are lost for good at a stop are named with their number", async () => {
  const clock = new ManualClock();
  const said: string[] = [];
  const { audit, state } = memoryStore();
  state.answer = fail;
  const options = { days: 1, unwritten: "/dev/null/none/x" };
  const log = new AuditLog(audit, options, {
    clock,
    log: { ...silentLog, error: (text) => said.push(text) },
  });
  for (let at = 1; at <= 3; at++) log.add(record(at));
  await passing(clock, log.close());
  expect(said).toEqual([expect.stringMatching(/^3 audit records could not be written and are lost: /)]);
});

test("no call that requires a record starts while there is hardly room for records of others", async () => {
  const clock = new ManualClock();
  const { audit, state } = memoryStore();
  const log = new AuditLog(audit, { days: 1 }, { clock, log: silentLog });
  state.answer = hang;
  for (let at = 0; at < 44_000; at++) log.add(record(at, `caller ${at % 100}`));
  expect(log.ready).toBe(true);
  for (let at = 0; at < 2_000; at++) log.add(record(at, `caller ${at % 100}`));
  expect([log.ready, log.state.lost]).toEqual([false, 0]);
});

test("one caller cannot use the room of others, and the log mentions what was lost", async () => {
  const clock = new ManualClock();
  const { audit, records, state } = memoryStore();
  const log = new AuditLog(audit, { days: 1 }, { clock, log: silentLog });
  state.answer = fail;
  for (let at = 0; at < 60_000; at++) log.add(record(at, "flood"));
  const { lost } = log.state;
  expect(lost).toBeGreaterThan(30_000);
  for (let at = 0; at < 100; at++) log.add(record(at, `other ${at % 3}`));
  expect(log.state.lost).toBe(lost);
  state.answer = () => Promise.resolve();
  await passing(
    clock,
    until(() => log.state.queued === 0),
  );
  expect(bodies(records).filter((body) => body.includes("lost"))).toEqual([
    `{"kind":"lost","outcome":"error","count":${lost}}`,
  ]);
});

test("the file has the numbers and hashes of the log, and also what the log has no room for", async () => {
  const clock = new ManualClock();
  const file = join(folder(), "audit.jsonl");
  const { audit, state } = memoryStore();
  const log = new AuditLog(audit, { days: 1, file }, { clock, log: silentLog });
  state.answer = fail;
  for (let at = 1; at <= 30_000; at++) log.add(record(at));
  const { lost } = log.state;
  state.answer = () => Promise.resolve();
  await passing(
    clock,
    until(() => log.state.queued === 0),
  );
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const records = lines.map((line) => JSON.parse(line) as { n?: number; seq?: number; hash?: string });
  const numbered = records.filter(({ seq }) => seq !== undefined);
  expect(numbered.slice(0, 2)).toMatchObject([
    { n: 1, seq: 1, hash: "h1" },
    { n: 2, seq: 2, hash: "h2" },
  ]);
  expect(numbered.map(({ seq }) => seq)).toEqual(Array.from(numbered, (_, at) => at + 1));
  expect(records.filter(({ seq }) => seq === undefined)).toHaveLength(lost);
});
