/** Abuse by trickery: what is handed over looks harmless until somebody reads it, or counts it, or waits for it. Each must end, and no neighbour in the same host may be killed for it. */
import type { Abuse } from "./abuse-case.ts";

const trick = (after: Abuse["after"], name: string, code: string): Abuse => ({ name, after, code });
const NEIGHBOUR = "the clock of a neighbour";
const MEMORY = "the memory of the machine";
const GATEWAY = "the gateway's clock";
const OBJECTS = "the gateway's objects";

export const TRICKS: readonly Abuse[] = [
  trick(GATEWAY, "a message longer than any frame", "throw new Error('x'.repeat(9e6))"),
  trick(
    GATEWAY,
    "a rejection longer than any frame",
    "Promise.reject(new Error('x'.repeat(9e6))); await sleep(1)",
  ),
  trick(
    GATEWAY,
    "a name longer than any frame",
    "const e = new Error('x'); e.name = 'n'.repeat(9e6); throw e",
  ),
  trick(
    GATEWAY,
    "a stack of control characters",
    "const e = new Error('x'); e.stack = '\\u0001'.repeat(5e6); throw e",
  ),
  trick(GATEWAY, "a log whose characters have three bytes", "console.log('€'.repeat(65000)); 1"),
  trick(
    GATEWAY,
    "many logs whose characters have four bytes",
    "for (let i = 0; i < 100; i++) console.log('😀'.repeat(2000)); 1",
  ),
  trick(
    GATEWAY,
    "progress that is always complete",
    "for (let i = 0; ; i++) progress(i, i, 'x'.repeat(900))",
  ),
  trick(GATEWAY, "progress that never moves", "for (;;) progress(1, 1)"),
  trick(
    MEMORY,
    "an address of megabytes, escaped threefold",
    "new URL('http://a/' + 'ü'.repeat(8e6)).href.length",
  ),
  trick(
    MEMORY,
    "an address that grows by its query",
    "const u = new URL('http://a/'); for (;;) u.searchParams.append('k', 'v'.repeat(1e4))",
  ),
  trick(
    MEMORY,
    "arguments that wait for their turn",
    "const s = 'x'.repeat(1e6); for (let i = 0; i < 90; i++) tools.a.hang({ s }).catch(() => {}); await sleep(100)",
  ),
  trick(
    GATEWAY,
    "calls beyond number that nobody awaits",
    "for (let i = 0; i < 5e4; i++) tools.a.echo().catch(() => {}); 1",
  ),
  trick(
    GATEWAY,
    "searches and descriptions beyond number",
    "for (let i = 0; i < 2e4; i++) { search('x').catch(() => {}); describe('a:b').catch(() => {}) } 1",
  ),
  trick(NEIGHBOUR, "a thrown thing that cannot be read", "throw { message: { toString() { throw 1 } } }"),
  trick(
    NEIGHBOUR,
    "a thrown proxy that answers everything with a trap",
    "throw new Proxy({}, { get() { throw 1 }, has() { throw 2 }, getPrototypeOf() { throw 3 } })",
  ),
  trick(
    NEIGHBOUR,
    "an error whose stack is a getter that loops",
    "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { for (;;); } }); throw e",
  ),
  trick(
    NEIGHBOUR,
    "a thenable at the top that answers again and again",
    "({ then(yes, no) { for (let i = 0; i < 1e4; i++) { yes(i); no(i) } } })",
  ),
  trick(
    NEIGHBOUR,
    "thenables within thenables",
    "const t = (n) => ({ then: (yes) => yes(n ? t(n - 1) : 1) }); t(1e5)",
  ),
  trick(NEIGHBOUR, "loops in executors of promises", "for (;;) new Promise(() => { for (;;); })"),
  trick(NEIGHBOUR, "loops in async functions", "for (;;) (async () => { for (;;); })()"),
  trick(
    NEIGHBOUR,
    "an async generator that never ends",
    "for await (const x of (async function* () { for (;;) yield 1 })());",
  ),
  trick(
    NEIGHBOUR,
    "a registry whose callbacks loop",
    "const r = new FinalizationRegistry(() => { for (;;); }); for (let i = 0; i < 1e4; i++) r.register({}, i); await new Promise(() => {})",
  ),
  trick(
    NEIGHBOUR,
    "weak references in a loop",
    "const a = []; for (;;) { a.push(new WeakRef({ x: a.length })); a[0].deref() }",
  ),
  trick(
    NEIGHBOUR,
    "waiting on shared memory",
    "Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)",
  ),
  trick(
    NEIGHBOUR,
    "a promise chain of a million",
    "let p = Promise.resolve(); for (let i = 0; i < 1e6; i++) p = p.then(() => {}); await p",
  ),
  trick(NEIGHBOUR, "more timers than may be", "for (let i = 0; i < 1e6; i++) sleep(1); 1"),
  trick(
    NEIGHBOUR,
    "a value whose getters call tools",
    "({ get x() { for (let i = 0; i < 500; i++) tools.a.echo({ i }).catch(() => {}); return 1 } })",
  ),
  trick(
    NEIGHBOUR,
    "a log that logs itself",
    "console.log({ get a() { console.log(this); return { toString() { for (;;); }, [Symbol.toPrimitive]() { for (;;); } } } })",
  ),
  trick(
    NEIGHBOUR,
    "a proxy in arguments that has ever more keys",
    "let n = 0; const p = new Proxy({}, { ownKeys: () => Array.from({ length: 1e4 }, () => 'k' + n++), getOwnPropertyDescriptor: () => ({ value: p, enumerable: true, configurable: true }), get: (_, k) => (k === 'toJSON' ? undefined : p) }); await tools.a.echo(p)",
  ),
  trick(
    NEIGHBOUR,
    "with, labels and eval",
    "with (new Proxy({}, { has: () => true, get: (_, k) => (k === Symbol.unscopables ? undefined : eval) })) { a: for (;;) { b: for (;;) continue a } }",
  ),
  trick(NEIGHBOUR, "a powerful BigInt", "const n = 1n << 1000000n; for (;;) n * n"),
  trick(
    OBJECTS,
    "everything that the tools are made of, replaced",
    "for (const p of [Array, Map, Promise, String, Object, Function, RegExp].map((c) => c.prototype)) for (const k of ['push', 'map', 'flatMap', 'join', 'get', 'set', 'has', 'delete', 'then', 'slice', 'test', 'call', 'apply', 'toString']) try { p[k] = () => ({ polluted: 1, server: 'a', tool: 'forged' }) } catch {} await tools.a.echo({})",
  ),
  trick(
    OBJECTS,
    "what calls are kept in, seen through a replaced method",
    "let kept; const { set } = Map.prototype; Map.prototype.set = function (k, v) { kept ??= v; return set.call(this, k, v) }; tools.a.echo({}); await sleep(20); kept?.reject?.(kept); kept?.resolve?.({ polluted: 1 }); Object.keys(kept ?? {})",
  ),
  trick(
    OBJECTS,
    "then on every object",
    "Object.prototype.then = function (yes) { yes({ polluted: 1 }) }; await tools.a.echo({})",
  ),
  trick(
    OBJECTS,
    "names of prototypes as names of tools",
    "await Promise.allSettled(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString'].flatMap((n) => [servers[n].call(n, JSON.parse('{\"__proto__\":{\"polluted\":1}}')), tools[n]?.[n]?.({})]))",
  ),
];
