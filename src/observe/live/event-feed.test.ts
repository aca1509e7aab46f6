import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { ANONYMOUS, type Principal } from "../../kernel/principal.ts";
import { EventFeed, type StreamResponse } from "./event-feed.ts";
import type { LiveEvent } from "./live-event.ts";

/** A reader that reads only when `take` is called. */
class Reader implements StreamResponse {
  readonly read: string[] = [];
  #unread: string[] = [];
  gone: "ended" | "destroyed" | undefined;

  write(text: string | Buffer): void {
    this.#unread.push(text.toString());
  }

  get writableLength(): number {
    return this.#unread.reduce((sum, { length }) => sum + length, 0);
  }

  take(): readonly string[] {
    this.read.push(...this.#unread);
    this.#unread = [];
    return this.read;
  }

  end(): void {
    this.gone = "ended";
  }

  destroy(): void {
    this.gone = "destroyed";
  }
}

const BOUND = 262_144;
const BATCH = 65_536;
const BATCH_MS = 50;
const all = { reader: () => ANONYMOUS, maySee: () => true };
const call = (text: string): string => JSON.stringify({ type: "call", at: "now", text });
const users: LiveEvent = { type: "changed", at: "now", of: "users" };

function typesIn(texts: readonly string[]): readonly string[] {
  return [...texts.join("").matchAll(/^event: (.*)$/gm)].map(([, type]) => type ?? "");
}

test("a slow reader has a limited backlog, and gets the number of lost events", () => {
  const clock = new ManualClock();
  const feed = new EventFeed(clock);
  const reader = new Reader();
  feed.add(reader, all, {});
  const long = "x".repeat(1_000);
  for (let at = 0; at < 2_000; at++) feed.sendCall(call(long));
  clock.advance(BATCH_MS);
  expect(reader.writableLength).toBeLessThan(BOUND + BATCH + 2_000);
  const held = typesIn(reader.take()).length - 1;
  feed.sendCall(call("after"));
  clock.advance(BATCH_MS);
  const [missed, after] = reader.take().slice(-2);
  expect(missed).toBe(`event: missed\ndata: {"type":"missed","count":${2_000 - held}}\n\n`);
  expect(after).toContain("after");
});

test("calls are sent in batches, before later events, and not to readers that joined later", () => {
  const clock = new ManualClock();
  const feed = new EventFeed(clock);
  const [reader, later] = [new Reader(), new Reader()];
  feed.add(reader, all, {});
  for (const text of ["one", "two", "three"]) feed.sendCall(call(text));
  expect(typesIn(reader.take())).toEqual(["hello"]);
  clock.advance(BATCH_MS);
  expect(reader.take()).toHaveLength(2);
  expect(typesIn(reader.read)).toEqual(["hello", "call", "call", "call"]);
  feed.sendCall(call("four"));
  feed.send(users);
  expect(typesIn(reader.take()).slice(4)).toEqual(["call", "changed"]);
  feed.sendCall(call("five"));
  feed.add(later, all, {});
  clock.advance(BATCH_MS);
  expect(typesIn(reader.take()).at(-1)).toBe("call");
  expect(typesIn(later.take())).toEqual(["hello"]);
  feed.sendCall(call("last"));
  feed.close();
  expect(reader.take().at(-1)).toContain("last");
});

test("a reader that reads nothing for a minute is disconnected, and one that reads stays", () => {
  const clock = new ManualClock();
  const feed = new EventFeed(clock);
  const [stuck, slow] = [new Reader(), new Reader()];
  feed.add(stuck, all, {});
  feed.add(slow, all, {});
  for (let second = 0; second < 70; second++) {
    feed.send(users);
    slow.take();
    clock.advance(1_000);
  }
  expect([stuck.gone, slow.gone]).toEqual(["destroyed", undefined]);
  const before = stuck.writableLength;
  feed.send(users);
  expect(stuck.writableLength).toBe(before);
  expect(feed.watched).toBe(true);
});

test("a reader gets only events it may see at that time, and the stream ends when the reader loses its rights", () => {
  const clock = new ManualClock();
  const feed = new EventFeed(clock);
  const reader = new Reader();
  let principal: Principal | undefined = { ...ANONYMOUS, roles: ["viewer"] };
  const maySee = (type: string, { roles }: Principal) => type === "changed" || roles.includes("viewer");
  const leave = feed.add(reader, { reader: () => principal, maySee }, { revision: 7 });
  feed.sendCall(call("one"));
  clock.advance(BATCH_MS);
  feed.sendCall(call("two"));
  principal = ANONYMOUS;
  clock.advance(BATCH_MS);
  feed.send(users);
  expect(typesIn(reader.take())).toEqual(["hello", "call", "changed"]);
  expect(reader.read[0]).toContain('"revision":7');
  principal = undefined;
  clock.advance(1_000);
  expect(reader.gone).toBe("ended");
  leave();
  expect(feed.watched).toBe(false);
});

test("onCheck runs every second while somebody watches, and a heartbeat is written every 15 seconds", () => {
  const clock = new ManualClock();
  let checks = 0;
  const feed = new EventFeed(clock, () => (checks += 1));
  clock.advance(10_000);
  expect(checks).toBe(0);
  const reader = new Reader();
  const leave = feed.add(reader, all, {});
  for (let second = 0; second < 15; second++) {
    reader.take();
    clock.advance(1_000);
  }
  expect(checks).toBe(15);
  expect(reader.take().at(-1)).toBe(": \n\n");
  leave();
  clock.advance(5_000);
  expect(checks).toBeLessThanOrEqual(16);
});

test("one principal has few places, and the last places are for administrators", () => {
  const feed = new EventFeed(new ManualClock());
  const person = (id: string, ...roles: string[]): Principal => ({ ...ANONYMOUS, id, roles });
  const watch = (principal: Principal) => feed.add(new Reader(), { ...all, reader: () => principal }, {});
  const [member, admin] = [person("member"), person("admin", "admin")];
  for (let at = 0; at < 20; at++) watch(member);
  expect([feed.fullFor(member), feed.fullFor(person("other"))]).toEqual([true, false]);
  for (let at = 0; at < 60; at++) watch(person(`one ${at}`));
  expect([feed.fullFor(person("other")), feed.fullFor(admin)]).toEqual([true, false]);
  for (let at = 0; at < 20; at++) watch(admin);
  expect(feed.fullFor(person("another", "admin"))).toBe(true);
});
