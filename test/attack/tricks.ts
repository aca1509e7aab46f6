/**
 * Abusive code whose values look harmless until they are read, counted or awaited. Each case must end, and no
 * other run in the same sandbox process may be killed for it.
 */
import type { Abuse } from "./abuse-case.ts";

const trick = (target: Abuse["target"], name: string, code: string): Abuse => ({ name, target, code });
const OTHER_RUN = "another run's time";
const MEMORY = "the machine's memory";
const GATEWAY = "the gateway's time";
const OBJECTS = "the gateway's objects";

export const TRICKS: readonly Abuse[] = [
  trick(GATEWAY, "an error message longer than the frame limit", "throw new Error('x'.repeat(9e6))"),
  trick(
    GATEWAY,
    "a rejection longer than the frame limit",
    "Promise.reject(new Error('x'.repeat(9e6))); await sleep(1)",
  ),
  trick(
    GATEWAY,
    "an error name longer than the frame limit",
    "const e = new Error('x'); e.name = 'n'.repeat(9e6); throw e",
  ),
  trick(
    GATEWAY,
    "an error stack of control characters",
    "const e = new Error('x'); e.stack = '\\u0001'.repeat(5e6); throw e",
  ),
  trick(GATEWAY, "a log with characters of three bytes", "console.log('€'.repeat(65000)); 1"),
  trick(
    GATEWAY,
    "many logs with characters of four bytes",
    "for (let i = 0; i < 100; i++) console.log('😀'.repeat(2000)); 1",
  ),
  trick(
    GATEWAY,
    "progress reports that are always complete",
    "for (let i = 0; ; i++) progress(i, i, 'x'.repeat(900))",
  ),
  trick(GATEWAY, "progress reports that never advance", "for (;;) progress(1, 1)"),
  trick(
    MEMORY,
    "a URL of megabytes whose escaping triples it",
    "new URL('http://a/' + 'ü'.repeat(8e6)).href.length",
  ),
  trick(
    MEMORY,
    "a URL with a growing query",
    "const u = new URL('http://a/'); for (;;) u.searchParams.append('k', 'v'.repeat(1e4))",
  ),
  trick(
    MEMORY,
    "large arguments of calls that wait",
    "const s = 'x'.repeat(1e6); for (let i = 0; i < 90; i++) tools.a.hang({ s }).catch(() => {}); await sleep(100)",
  ),
  trick(
    GATEWAY,
    "50,000 calls that are not awaited",
    "for (let i = 0; i < 5e4; i++) tools.a.echo().catch(() => {}); 1",
  ),
  trick(
    GATEWAY,
    "40,000 searches and descriptions",
    "for (let i = 0; i < 2e4; i++) { search('x').catch(() => {}); describe('a:b').catch(() => {}) } 1",
  ),
  trick(OTHER_RUN, "a thrown value that cannot be read", "throw { message: { toString() { throw 1 } } }"),
  trick(
    OTHER_RUN,
    "a thrown proxy whose traps throw",
    "throw new Proxy({}, { get() { throw 1 }, has() { throw 2 }, getPrototypeOf() { throw 3 } })",
  ),
  trick(
    OTHER_RUN,
    "an error whose stack getter loops",
    "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { for (;;); } }); throw e",
  ),
  trick(
    OTHER_RUN,
    "a returned thenable that settles many times",
    "({ then(yes, no) { for (let i = 0; i < 1e4; i++) { yes(i); no(i) } } })",
  ),
  trick(OTHER_RUN, "nested thenables", "const t = (n) => ({ then: (yes) => yes(n ? t(n - 1) : 1) }); t(1e5)"),
  trick(OTHER_RUN, "loops in executors of promises", "for (;;) new Promise(() => { for (;;); })"),
  trick(OTHER_RUN, "loops in async functions", "for (;;) (async () => { for (;;); })()"),
  trick(
    OTHER_RUN,
    "an async generator that never ends",
    "for await (const x of (async function* () { for (;;) yield 1 })());",
  ),
  trick(
    OTHER_RUN,
    "a FinalizationRegistry whose callbacks loop",
    "const r = new FinalizationRegistry(() => { for (;;); }); for (let i = 0; i < 1e4; i++) r.register({}, i); await new Promise(() => {})",
  ),
  trick(
    OTHER_RUN,
    "weak references in a loop",
    "const a = []; for (;;) { a.push(new WeakRef({ x: a.length })); a[0].deref() }",
  ),
  trick(OTHER_RUN, "Atomics.wait", "Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)"),
  trick(
    OTHER_RUN,
    "a chain of a million promises",
    "let p = Promise.resolve(); for (let i = 0; i < 1e6; i++) p = p.then(() => {}); await p",
  ),
  trick(OTHER_RUN, "more timers than the limit", "for (let i = 0; i < 1e6; i++) sleep(1); 1"),
  trick(
    OTHER_RUN,
    "a value whose getters call tools",
    "({ get x() { for (let i = 0; i < 500; i++) tools.a.echo({ i }).catch(() => {}); return 1 } })",
  ),
  trick(
    OTHER_RUN,
    "a logged value that logs itself",
    "console.log({ get a() { console.log(this); return { toString() { for (;;); }, [Symbol.toPrimitive]() { for (;;); } } } })",
  ),
  trick(
    OTHER_RUN,
    "a proxy in arguments with ever more keys",
    "let n = 0; const p = new Proxy({}, { ownKeys: () => Array.from({ length: 1e4 }, () => 'k' + n++), getOwnPropertyDescriptor: () => ({ value: p, enumerable: true, configurable: true }), get: (_, k) => (k === 'toJSON' ? undefined : p) }); await tools.a.echo(p)",
  ),
  trick(
    OTHER_RUN,
    "with, labels and eval",
    "with (new Proxy({}, { has: () => true, get: (_, k) => (k === Symbol.unscopables ? undefined : eval) })) { a: for (;;) { b: for (;;) continue a } }",
  ),
  trick(OTHER_RUN, "an endless BigInt product", "const n = 1n << 1000000n; for (;;) n * n"),
  trick(
    OBJECTS,
    "replaced methods of all built-in prototypes",
    "for (const p of [Array, Map, Promise, String, Object, Function, RegExp].map((c) => c.prototype)) for (const k of ['push', 'map', 'flatMap', 'join', 'get', 'set', 'has', 'delete', 'then', 'slice', 'test', 'call', 'apply', 'toString']) try { p[k] = () => ({ polluted: 1, server: 'a', tool: 'forged' }) } catch {} await tools.a.echo({})",
  ),
  trick(
    OBJECTS,
    "pending calls read through a replaced Map method",
    "let kept; const { set } = Map.prototype; Map.prototype.set = function (k, v) { kept ??= v; return set.call(this, k, v) }; tools.a.echo({}); await sleep(20); kept?.reject?.(kept); kept?.resolve?.({ polluted: 1 }); Object.keys(kept ?? {})",
  ),
  trick(
    OBJECTS,
    "a then method on every object",
    "Object.prototype.then = function (yes) { yes({ polluted: 1 }) }; await tools.a.echo({})",
  ),
  trick(
    OBJECTS,
    "prototype properties as server and tool names",
    "await Promise.allSettled(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString'].flatMap((n) => [servers[n].call(n, JSON.parse('{\"__proto__\":{\"polluted\":1}}')), tools[n]?.[n]?.({})]))",
  ),
];
