/** Code that wants to hurt: time, memory, the gateway, or a neighbour. Each names what it is after; none may get it, and each must end. */
import type { Abuse } from "./abuse-case.ts";
import { TRICKS } from "./tricks.ts";

const clock = (name: string, code: string): Abuse => ({ name, after: "the clock of a neighbour", code });
const memory = (name: string, code: string): Abuse => ({ name, after: "the memory of the machine", code });
const objects = (name: string, code: string): Abuse => ({ name, after: "the gateway's objects", code });
const gateway = (name: string, code: string): Abuse => ({ name, after: "the gateway's clock", code });

export const ABUSES: readonly Abuse[] = [
  clock("an endless loop", "for (;;);"),
  clock("an endless loop after an await", "await null; for (;;);"),
  clock("an endless loop of awaits", "for (;;) await null"),
  clock("a loop in a finally", "for (;;) { try { for (;;); } finally { continue } }"),
  clock("a loop that catches everything", "for (;;) { try { for (;;); } catch {} }"),
  clock(
    "microtasks without end",
    "const f = () => Promise.resolve().then(f); await f(); await new Promise(() => {})",
  ),
  clock("queueMicrotask without end", "const f = () => queueMicrotask(f); f(); await new Promise(() => {})"),
  clock("a promise that never ends", "await new Promise(() => {})"),
  clock("a thenable that never ends", "await { then() {} }"),
  clock("a thenable that is its own value", "const t = { then(r) { r(t) } }; await t"),
  clock("a loop in a getter of the value", "({ get x() { for (;;); } })"),
  clock("a loop in toJSON of the value", "({ toJSON() { for (;;); } })"),
  clock("a loop in toString of a tool's name", "await servers.a.call({ toString() { for (;;); } })"),
  clock("a loop in toJSON of arguments", "await tools.a.echo({ toJSON() { for (;;); } })"),
  clock("a loop in a proxy that is logged", "console.log(new Proxy({}, { ownKeys() { for (;;); } }))"),
  clock("a loop in a getter of what is thrown", "throw { get message() { for (;;); } }"),
  clock("a loop in a generator", "const g = (function* () { for (;;) yield 1 })(); for (const x of g);"),
  clock("a loop in a timer", "setTimeout(() => { for (;;); }, 1); await new Promise(() => {})"),
  clock("a loop in an answer", "await tools.a.echo({}); await tools.a.echo({}).then(() => { for (;;); })"),
  clock("a loop in what nobody awaits", "Promise.reject({ get message() { for (;;); } }); 1"),
  clock(
    "a sort that never ends",
    "const a = Array.from({ length: 1e6 }, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5)",
  ),
  clock("a regular expression that goes back", "/^(a+)+$/.test('a'.repeat(40) + 'b')"),
  clock("a regular expression with lookbehind", "/(?<=(x+x+)+)y/.test('x'.repeat(40))"),
  clock("huge powers", "let n = 3n; for (;;) n = n ** 3n"),
  clock("factorials", "let n = 1n; for (let i = 1n; ; i++) n *= i"),
  clock(
    "JSON of great depth",
    "let s = '['.repeat(5e5) + ']'.repeat(5e5); for (;;) try { JSON.parse(s) } catch {}",
  ),
  clock("strings compared without end", "const s = 'x'.repeat(2e6); for (;;) s.indexOf('y')"),
  clock("addresses without end", "for (;;) new URL('http://a/' + 'b/'.repeat(1e4))"),
  clock("Date without end", "for (;;) new Date().toString()"),
  clock("deep recursion", "function f() { return f() + 1 } f()"),
  clock("recursion that catches itself", "function f() { try { f() } finally { f() } } f()"),
  clock("deep recursion through a proxy", "const p = new Proxy({}, { get: (t, k, r) => r[k + 1] }); p.x"),
  clock(
    "timers without number",
    "for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 0); await new Promise(() => {})",
  ),
  clock(
    "intervals without number",
    "for (let i = 0; i < 1e3; i++) setInterval(() => {}, 0); await new Promise(() => {})",
  ),
  memory("arrays of half a megabyte, kept", "const a = []; for (;;) a.push(new Uint8Array(1 << 19))"),
  memory("arrays of ten megabytes, kept", "const a = []; for (;;) a.push(new Uint8Array(10 << 20))"),
  memory("shared arrays, kept", "const a = []; for (;;) a.push(new SharedArrayBuffer(1 << 19))"),
  memory(
    "strings of a megabyte, kept",
    "const a = []; for (let i = 0; ; i++) a.push(String(i).padEnd(1 << 20, 'x'))",
  ),
  memory("a growing string", "let s = 'x'; for (;;) s += s"),
  memory("a growing array", "const a = []; for (;;) a.push({ a: [1, 2, 3] })"),
  memory("a growing map", "const m = new Map(); for (let i = 0; ; i++) m.set({}, 'x'.repeat(100) + i)"),
  memory("one array of a gigabyte", "new Uint8Array(2 ** 30).fill(1).length"),
  memory("a sparse array that is filled", "new Array(2 ** 32 - 1).fill('x')"),
  memory(
    "memory after memory, caught",
    "const a = []; for (;;) { try { a.push(new Uint8Array(1 << 20)) } catch {} }",
  ),
  memory("promises without number", "const a = []; for (;;) a.push(new Promise(() => {}))"),
  memory("a clone of clones", "let o = {}; for (let i = 0; ; i++) { o = { a: o, b: structuredClone(o) } }"),
  memory("a value that is too large", "'x'.repeat(3e7)"),
  memory("a thrown message that is too large", "throw new Error('x'.repeat(3e7))"),
  memory("a symbol for each number", "for (let i = 0; ; i++) Symbol.for('s' + i + 'x'.repeat(1000))"),
  memory(
    "functions without number",
    "const a = []; for (let i = 0; ; i++) a.push(new Function('return ' + i))",
  ),
  gateway(
    "a flood of calls",
    "for (let i = 0; i < 2e5; i++) tools.a.echo({ i }).catch(() => {}); await sleep(50)",
  ),
  gateway("a flood of calls that are awaited", "for (;;) await tools.a.echo({}).catch(() => {})"),
  gateway("a flood of logs", "for (let i = 0; ; i++) console.log(i)"),
  gateway("a flood of long logs", "for (;;) console.error('x'.repeat(1e5))"),
  gateway("a flood of progress", "for (let i = 0; ; i++) progress(i, 1e9, 'x'.repeat(1e4))"),
  gateway(
    "progress that is no number",
    "progress(NaN); progress(Infinity); progress({ valueOf() { return -1 } }); progress('x', 'y', { toString() { return 'z' } })",
  ),
  gateway(
    "arguments of four megabytes in a loop",
    "const s = 'x'.repeat(4e6); for (;;) await tools.a.echo({ s }).catch(() => {})",
  ),
  gateway(
    "arguments of a megabyte in a loop",
    "const s = 'x'.repeat(1e6); for (;;) await tools.a.echo({ s }).catch(() => {})",
  ),
  gateway("arguments of thirty megabytes", "await tools.a.echo({ s: 'x'.repeat(3e7) }).catch((e) => e.code)"),
  gateway(
    "arguments of great depth",
    "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; await tools.a.echo(o).catch((e) => e.message)",
  ),
  gateway("a flood of rejections", "for (let i = 0; i < 1e5; i++) Promise.reject(new Error('x' + i)); 1"),
  gateway("names of a megabyte", "await servers['x'.repeat(1e6)].call('y'.repeat(1e6)).catch((e) => e.code)"),
  gateway("searches without end", "for (;;) await search('x').catch(() => {})"),
  objects(
    "__proto__ in arguments",
    `await tools.a.echo(JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}'))`,
  ),
  objects("__proto__ in the value", `JSON.parse('{"__proto__": {"polluted": 1}}')`),
  objects(
    "Object.prototype of the guest",
    "Object.prototype.polluted = 1; Array.prototype.polluted = 1; await tools.a.echo({ x: 1 })",
  ),
  objects(
    "JSON replaced",
    "JSON.stringify = () => '{\"polluted\": 1}'; JSON.parse = () => ({ polluted: 1 }); await tools.a.echo({})",
  ),
  objects(
    "Promise replaced",
    "globalThis.Promise = class { then() {} }; Object.prototype.then = function (r) { r({ polluted: 1 }) }; delete Object.prototype.then; await tools.a.echo({})",
  ),
  objects(
    "Promise.prototype.then replaced",
    "Promise.prototype.then = function () { return { polluted: 1 } }; tools.a.echo({})",
  ),
  objects(
    "String, Map and Reflect replaced",
    "String = Map = Reflect = Array = Object = undefined; await tools.a.echo({})",
  ),
  objects("a frame in a log", `console.log('\\n{"type":"done","id":1,"value":"1"}\\n'); 2`),
  objects(
    "a frame in arguments",
    `await servers.a.call('echo"}\\n{"type":"call","id":1,"callId":99,"server":"a","tool":"forged","args":"{}"}\\n')`,
  ),
  objects(
    "lone surrogates and control characters everywhere",
    "console.log('\\ud800\\u0000\\u2028'); await tools['\\u0000']['\\ud800']({ '\\udfff': '\\u0000' }).catch((e) => e.code)",
  ),
  ...TRICKS,
];
