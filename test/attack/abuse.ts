/**
 * Code that tries to exhaust time or memory, to harm the gateway, or to disturb other runs. Each case names
 * its target. None may reach it, and each must end.
 */
import type { Abuse } from "./abuse-case.ts";
import { TRICKS } from "./tricks.ts";

const otherRun = (name: string, code: string): Abuse => ({ name, target: "another run's time", code });
const memory = (name: string, code: string): Abuse => ({ name, target: "the machine's memory", code });
const objects = (name: string, code: string): Abuse => ({ name, target: "the gateway's objects", code });
const gateway = (name: string, code: string): Abuse => ({ name, target: "the gateway's time", code });

export const ABUSES: readonly Abuse[] = [
  otherRun("an endless loop", "for (;;);"),
  otherRun("an endless loop after an await", "await null; for (;;);"),
  otherRun("an endless loop of awaits", "for (;;) await null"),
  otherRun("a loop in a finally", "for (;;) { try { for (;;); } finally { continue } }"),
  otherRun("a loop that catches everything", "for (;;) { try { for (;;); } catch {} }"),
  otherRun(
    "an endless chain of microtasks",
    "const f = () => Promise.resolve().then(f); await f(); await new Promise(() => {})",
  ),
  otherRun(
    "an endless chain of queueMicrotask",
    "const f = () => queueMicrotask(f); f(); await new Promise(() => {})",
  ),
  otherRun("a promise that never settles", "await new Promise(() => {})"),
  otherRun("a thenable that never settles", "await { then() {} }"),
  otherRun("a thenable that resolves with itself", "const t = { then(r) { r(t) } }; await t"),
  otherRun("a loop in a getter of the returned value", "({ get x() { for (;;); } })"),
  otherRun("a loop in toJSON of the returned value", "({ toJSON() { for (;;); } })"),
  otherRun("a loop in toString of a tool's name", "await servers.a.call({ toString() { for (;;); } })"),
  otherRun("a loop in toJSON of arguments", "await tools.a.echo({ toJSON() { for (;;); } })"),
  otherRun("a loop in a logged proxy", "console.log(new Proxy({}, { ownKeys() { for (;;); } }))"),
  otherRun("a loop in a getter of the thrown value", "throw { get message() { for (;;); } }"),
  otherRun("a loop in a generator", "const g = (function* () { for (;;) yield 1 })(); for (const x of g);"),
  otherRun("a loop in a timer callback", "setTimeout(() => { for (;;); }, 1); await new Promise(() => {})"),
  otherRun(
    "a loop in the callback of a call",
    "await tools.a.echo({}); await tools.a.echo({}).then(() => { for (;;); })",
  ),
  otherRun("a loop in an unhandled rejection", "Promise.reject({ get message() { for (;;); } }); 1"),
  otherRun(
    "a sort that never ends",
    "const a = Array.from({ length: 1e6 }, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5)",
  ),
  otherRun("a regular expression with exponential backtracking", "/^(a+)+$/.test('a'.repeat(40) + 'b')"),
  otherRun("a regular expression with lookbehind", "/(?<=(x+x+)+)y/.test('x'.repeat(40))"),
  otherRun("huge BigInt powers", "let n = 3n; for (;;) n = n ** 3n"),
  otherRun("BigInt factorials", "let n = 1n; for (let i = 1n; ; i++) n *= i"),
  otherRun(
    "deeply nested JSON",
    "let s = '['.repeat(5e5) + ']'.repeat(5e5); for (;;) try { JSON.parse(s) } catch {}",
  ),
  otherRun("an endless search in long strings", "const s = 'x'.repeat(2e6); for (;;) s.indexOf('y')"),
  otherRun("an endless loop that parses URLs", "for (;;) new URL('http://a/' + 'b/'.repeat(1e4))"),
  otherRun("an endless loop that formats dates", "for (;;) new Date().toString()"),
  otherRun("deep recursion", "function f() { return f() + 1 } f()"),
  otherRun("recursion that catches its stack overflow", "function f() { try { f() } finally { f() } } f()"),
  otherRun("deep recursion through a proxy", "const p = new Proxy({}, { get: (t, k, r) => r[k + 1] }); p.x"),
  otherRun(
    "a million timers",
    "for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 0); await new Promise(() => {})",
  ),
  otherRun(
    "a thousand intervals",
    "for (let i = 0; i < 1e3; i++) setInterval(() => {}, 0); await new Promise(() => {})",
  ),
  memory("retained arrays of half a megabyte", "const a = []; for (;;) a.push(new Uint8Array(1 << 19))"),
  memory("retained arrays of ten megabytes", "const a = []; for (;;) a.push(new Uint8Array(10 << 20))"),
  memory("retained shared arrays", "const a = []; for (;;) a.push(new SharedArrayBuffer(1 << 19))"),
  memory(
    "retained strings of a megabyte",
    "const a = []; for (let i = 0; ; i++) a.push(String(i).padEnd(1 << 20, 'x'))",
  ),
  memory("a growing string", "let s = 'x'; for (;;) s += s"),
  memory("a growing array", "const a = []; for (;;) a.push({ a: [1, 2, 3] })"),
  memory("a growing map", "const m = new Map(); for (let i = 0; ; i++) m.set({}, 'x'.repeat(100) + i)"),
  memory("one array of a gigabyte", "new Uint8Array(2 ** 30).fill(1).length"),
  memory("a filled sparse array", "new Array(2 ** 32 - 1).fill('x')"),
  memory(
    "allocations that catch each failure",
    "const a = []; for (;;) { try { a.push(new Uint8Array(1 << 20)) } catch {} }",
  ),
  memory("endlessly many promises", "const a = []; for (;;) a.push(new Promise(() => {}))"),
  memory("clones of clones", "let o = {}; for (let i = 0; ; i++) { o = { a: o, b: structuredClone(o) } }"),
  memory("a returned value that is too large", "'x'.repeat(3e7)"),
  memory("an error message that is too large", "throw new Error('x'.repeat(3e7))"),
  memory(
    "endlessly many registered symbols",
    "for (let i = 0; ; i++) Symbol.for('s' + i + 'x'.repeat(1000))",
  ),
  memory(
    "endlessly many functions",
    "const a = []; for (let i = 0; ; i++) a.push(new Function('return ' + i))",
  ),
  gateway(
    "a flood of calls",
    "for (let i = 0; i < 2e5; i++) tools.a.echo({ i }).catch(() => {}); await sleep(50)",
  ),
  gateway("a flood of awaited calls", "for (;;) await tools.a.echo({}).catch(() => {})"),
  gateway("a flood of logs", "for (let i = 0; ; i++) console.log(i)"),
  gateway("a flood of long logs", "for (;;) console.error('x'.repeat(1e5))"),
  gateway("a flood of progress reports", "for (let i = 0; ; i++) progress(i, 1e9, 'x'.repeat(1e4))"),
  gateway(
    "progress values that are not numbers",
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
    "deeply nested arguments",
    "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; await tools.a.echo(o).catch((e) => e.message)",
  ),
  gateway("a flood of rejections", "for (let i = 0; i < 1e5; i++) Promise.reject(new Error('x' + i)); 1"),
  gateway(
    "server and tool names of a megabyte",
    "await servers['x'.repeat(1e6)].call('y'.repeat(1e6)).catch((e) => e.code)",
  ),
  gateway("an endless loop of searches", "for (;;) await search('x').catch(() => {})"),
  objects(
    "__proto__ in arguments",
    `await tools.a.echo(JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}'))`,
  ),
  objects("__proto__ in the returned value", `JSON.parse('{"__proto__": {"polluted": 1}}')`),
  objects(
    "a changed Object.prototype in the sandbox",
    "Object.prototype.polluted = 1; Array.prototype.polluted = 1; await tools.a.echo({ x: 1 })",
  ),
  objects(
    "replaced JSON functions",
    "JSON.stringify = () => '{\"polluted\": 1}'; JSON.parse = () => ({ polluted: 1 }); await tools.a.echo({})",
  ),
  objects(
    "a replaced Promise",
    "globalThis.Promise = class { then() {} }; Object.prototype.then = function (r) { r({ polluted: 1 }) }; delete Object.prototype.then; await tools.a.echo({})",
  ),
  objects(
    "a replaced Promise.prototype.then",
    "Promise.prototype.then = function () { return { polluted: 1 } }; tools.a.echo({})",
  ),
  objects(
    "replaced String, Map and Reflect",
    "String = Map = Reflect = Array = Object = undefined; await tools.a.echo({})",
  ),
  objects("a forged frame in a log", `console.log('\\n{"type":"done","id":1,"value":"1"}\\n'); 2`),
  objects(
    "a forged frame in arguments",
    `await servers.a.call('echo"}\\n{"type":"call","id":1,"callId":99,"server":"a","tool":"forged","args":"{}"}\\n')`,
  ),
  objects(
    "lone surrogates and control characters in logs, names and arguments",
    "console.log('\\ud800\\u0000\\u2028'); await tools['\\u0000']['\\ud800']({ '\\udfff': '\\u0000' }).catch((e) => e.code)",
  ),
  ...TRICKS,
];
