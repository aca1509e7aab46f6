/**
 * Known ways out of JavaScript sandboxes. Each is code whose value is the canary if the escape worked. The
 * canary is a variable in the environment of the gateway.
 */

export interface Escape {
  readonly name: string;
  readonly code: string;
  /**
   * True if the code escapes `node:vm`. The tests check that, so that a case cannot pass because it is
   * broken.
   */
  readonly escapesVm?: boolean;
}

const READ_CANARY = JSON.stringify(
  "return typeof process === 'undefined' ? 'no process' : process.env.METAMCP_CANARY",
);

/** Objects that the sandbox gives to the code. Each could lead to the host's `Function`. */
const EXPOSED = [
  "console.log",
  "console",
  "tools",
  "tools.a",
  "tools.a.echo",
  "servers.a",
  "servers.a.call",
  "search",
  "describe",
  "sleep",
  "progress",
  "setTimeout",
  "clearTimeout",
  "URL",
  "URLSearchParams",
  "TextEncoder",
  "TextDecoder",
  "structuredClone",
  "new URL('http://a/')",
  "new TextEncoder().encode('a')",
  "structuredClone({})",
  "tools.a.echo({})",
  "await servers.a.call('echo')",
  "await tools.a.fail().catch((e) => e)",
  "sleep(1)",
];

const constructorChains: readonly Escape[] = EXPOSED.map((expression) => ({
  name: `constructor chain of ${expression}`,
  code: `const x = ${expression};\nconst F = (typeof x === "function" ? x : x.constructor).constructor;\nF(${READ_CANARY})()`,
  escapesVm: true,
}));

export const ESCAPES: readonly Escape[] = [
  ...constructorChains,
  {
    name: "prototype of a host function",
    code: `Object.getPrototypeOf(tools.a.echo).constructor(${READ_CANARY})()`,
    escapesVm: true,
  },
  {
    name: "the constructor of a host error",
    code: `try { await servers.a.call(Symbol.iterator, { toJSON() { throw 1 } }) } catch (e) { (e?.constructor?.constructor ?? Function)(${READ_CANARY})() }`,
  },
  {
    name: "the constructor of a host promise",
    code: `tools.a.echo({}).constructor.constructor(${READ_CANARY})()`,
    escapesVm: true,
  },
  {
    name: "a thenable that receives the host's resolve function",
    code: `await new Promise((done) => { const p = tools.a.echo({}); p.then = undefined; const C = p.constructor; C.resolve({ then(resolve) { done(resolve.constructor(${READ_CANARY})()) } }); setTimeout(() => done('none'), 50) })`,
  },
  {
    name: "arguments.callee.caller of a callback",
    code: `await new Promise((done) => setTimeout(function () { try { done(String(arguments.callee.caller?.constructor(${READ_CANARY})())) } catch (e) { done(e.message) } }, 1))`,
  },
  {
    name: "Error.prepareStackTrace",
    code: `Error.prepareStackTrace = (e, frames) => frames; const frames = new Error().stack; Array.isArray(frames) ? String(frames.map((f) => f.getThis?.()?.process?.env?.METAMCP_CANARY)) : frames`,
  },
  {
    name: "a stack overflow inside the bridge",
    code: `let found = 'nothing'; function deep() { try { deep() } catch (e) { try { found = String(e.constructor.constructor(${READ_CANARY})()) } catch {} } } deep(); const over = () => { try { console.log('x'); over() } catch (e) { try { found = String(e.constructor.constructor(${READ_CANARY})()) } catch {} } }; over(); found`,
  },
  {
    name: "Symbol.species",
    code: `class A extends Array { static get [Symbol.species]() { return function () { return new Proxy([], {}) } } }\nString(new A(1, 2, 3).map((x) => x).constructor.constructor(${READ_CANARY})())`,
  },
  {
    name: "Symbol.unscopables and with",
    code: `with (tools) { typeof process === 'undefined' ? 'none' : process.env.METAMCP_CANARY }`,
  },
  {
    name: "a getter on Object.prototype that sees the host",
    code: `let seen = 'none'; Object.defineProperty(Object.prototype, 'callId', { get() { seen = String(this.constructor?.constructor?.(${READ_CANARY})()); return 1 }, configurable: true }); await tools.a.echo({}); seen`,
  },
  {
    name: "a setter on Object.prototype that sees the host",
    code: `let seen = 'none'; Object.defineProperty(Object.prototype, 'value', { set(v) { seen = String(v?.constructor?.constructor?.(${READ_CANARY})()) }, configurable: true }); await tools.a.echo({}); seen`,
  },
  {
    name: "a proxy as arguments",
    code: `await servers.a.call('echo', new Proxy({}, { get(t, k, r) { return k === 'toJSON' ? () => ({ k: String(r.constructor) }) : undefined }, ownKeys() { return [] } })).then(() => Function(${READ_CANARY})())`,
  },
  {
    name: "an object in place of a tool's name",
    code: `await servers.a.call({ toString() { return this.constructor.constructor(${READ_CANARY})() } })`,
  },
  { name: "Function", code: `new Function(${READ_CANARY})()` },
  { name: "AsyncFunction", code: `await (async () => {}).constructor(${READ_CANARY})()` },
  {
    name: "GeneratorFunction",
    code: `(function* () {}).constructor("yield typeof process === 'undefined' ? 'none' : process.env.METAMCP_CANARY")().next().value`,
  },
  {
    name: "indirect eval",
    code: `(0, eval)("typeof process === 'undefined' ? 'none' : process.env.METAMCP_CANARY")`,
  },
  { name: "process", code: "process.env.METAMCP_CANARY" },
  { name: "globalThis.process", code: "globalThis.process?.env?.METAMCP_CANARY ?? 'none'" },
  { name: "require", code: "require('node:process').env.METAMCP_CANARY" },
  { name: "module.constructor._load", code: "module.constructor._load('process').env.METAMCP_CANARY" },
  ...[
    "fs",
    "node:fs",
    "node:process",
    "std",
    "os",
    "qjs:std",
    "qjs:os",
    "bjson",
    "file:///proc/self/environ",
    "data:text/javascript,export default 1",
    "./host.js",
    "quickjs-wasi",
  ].map((name) => ({
    name: `import ${name}`,
    code: `Object.keys(await import(${JSON.stringify(name)})).join()`,
  })),
  { name: "static import", code: "import fs from 'node:fs'\nfs.readFileSync('/proc/self/environ', 'utf8')" },
  { name: "import.meta", code: "import.meta.url" },
  { name: "process.binding", code: "process.binding('fs')" },
  { name: "internalBinding", code: "internalBinding('fs')" },
  { name: "fetch", code: "await fetch('file:///proc/self/environ').then((r) => r.text())" },
  {
    name: "XMLHttpRequest, WebSocket, Worker, Deno, Bun",
    code: "[typeof XMLHttpRequest, typeof WebSocket, typeof Worker, typeof Deno, typeof Bun, typeof WebAssembly, typeof Atomics].join()",
  },
  {
    name: "the raw bridge",
    code: "[typeof bridge, typeof values, typeof guest, Object.getOwnPropertyNames(globalThis).filter((n) => /bridge|host|metamcp/i.test(n)).join()].join()",
  },
  {
    name: "the source text of the exposed functions",
    code: "[tools.a.echo.toString(), console.log.toString()].join().includes('METAMCP_CANARY') ? 'x' : 'none'",
  },
  { name: "ShadowRealm, Realm, vm", code: "[typeof ShadowRealm, typeof Realm, typeof vm].join()" },
  { name: "HTML comments and unicode escapes", code: "<!-- x\n\\u0070rocess.env.METAMCP_CANARY" },
  {
    name: "a server named __proto__",
    code: "await tools.__proto__.constructor.constructor({}).catch((e) => e.code ?? e.message)",
  },
  {
    name: "servers.constructor",
    code: `String(await servers.constructor.call('return process', {}).catch((e) => e.code ?? e.message))`,
  },
];
