import { symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { temp } from "../../test/support/temp.ts";
import { loadValidator } from "../gateway/schema-check.ts";
import { ManualClock } from "../kernel/clock.ts";
import { BUILT_IN } from "./built-in.ts";
import { CustomLayers } from "./custom-layers.ts";
import { callOf, raw } from "./layer.fixture.ts";
import type { PlacedLayer } from "./layer.ts";
import { pipelineOf } from "./pipeline.ts";
import { LayerRegistry } from "./registry.ts";
import { ownFacts, RequestLayers } from "./request-layers.ts";

const GOOD = `export default {
  schema: { properties: { word: { type: "string", minLength: 1 } }, required: ["word"] },
  compile({ word }, { MetaMcpError, fromRaw }) {
    return {
      call: (next) => (call) => {
        if (JSON.stringify(fromRaw(call.params)).includes(word)) throw new MetaMcpError("forbidden", "not that word");
        return next(call);
      },
    };
  },
};`;

async function registryIn(folder: string | undefined): Promise<LayerRegistry> {
  return new LayerRegistry(BUILT_IN, await loadValidator(), new CustomLayers(folder));
}

async function problem(registry: LayerRegistry, entry: { use: string; [option: string]: unknown }) {
  await registry.prepare([entry]);
  return registry.check(entry)[0];
}

test("a module in the folder is a layer whose options are checked by its schema", async () => {
  const { folder, write } = temp();
  write("word.mjs", GOOD);
  const registry = await registryIn(`${folder}/work`);
  const entry = { use: "./word.mjs", word: "secret" };
  expect(await problem(registry, entry)).toBeUndefined();
  expect(await problem(registry, { use: "./word.mjs" })).toMatchObject({ path: "/word" });
  expect(await problem(registry, { ...entry, wrod: 1 })).toMatchObject({ path: "/wrod" });
  const clock = new ManualClock();
  const layer = { ...registry.compile(entry, { clock }), use: entry.use, at: "here" };
  const handler = pipelineOf([layer], async () => raw("{}"), clock);
  expect(String(await handler(callOf({ args: { a: 1 } })))).toBe("{}");
  await expect(handler(callOf({ args: { a: "secret" } }))).rejects.toMatchObject({ code: "forbidden" });
});

test.each([
  ["./none.mjs", /cannot be read \(ENOENT\)/],
  ["./out.mjs", /leads out of the folder/],
  ["./folder.mjs", /is not a file|EISDIR/],
  ["./broken.mjs", /cannot be loaded: /],
  ["./empty.mjs", /has no default export/],
  ["./bare.mjs", /has no schema/],
  ["./idle.mjs", /has no compile/],
  ["../work/word.mjs", /must be "\.\/NAME\.mjs"/],
  ["./sub/word.mjs", /must be "\.\/NAME\.mjs"/],
  ["/etc/passwd", /must be "\.\/NAME\.mjs"/],
  ["./.hidden.mjs", /must be "\.\/NAME\.mjs"/],
])("the entry %s is refused with a reason", async (use, reason) => {
  const { folder, write, path } = temp();
  write("word.mjs", GOOD);
  write("broken.mjs", "export default {{");
  write("empty.mjs", "export const x = 1;");
  write("bare.mjs", "export default { compile() {} };");
  write("idle.mjs", "export default { schema: { properties: {} } };");
  const outside = temp();
  symlinkSync(outside.write("word.mjs", GOOD), path("out.mjs"));
  symlinkSync(outside.folder, path("folder.mjs"));
  const registry = await registryIn(`${folder}/work`);
  const found = await problem(registry, { use, word: "x" });
  expect(found?.path).toBe("/use");
  expect(found?.message).toMatch(use === "./folder.mjs" ? /leads out/ : reason);
});

test.each([
  ["() => { throw new Error('boom'); }", /its compile fails: boom/],
  ["() => undefined", /does not return an object/],
  ["() => 5", /does not return an object/],
  ["async () => ({ call: (next) => next })", /not a promise/],
  ["() => ({})", /neither request, call, list nor hidesOwn/],
  ["() => ({ calls: (next) => next })", /returns the unknown key "calls"; known: request, call, list/],
  ["() => ({ limit: {}, call: (next) => next })", /unknown key "limit"/],
  ["() => ({ call: 5 })", /must return a function as call/],
  ["() => ({ call: () => 5 })", /a call that does not return a function/],
  ["() => ({ request: () => { throw new Error('no'); } })", /its compile fails: no/],
  ["() => ({ list: {} })", /a list without hides/],
])("an invalid result of compile is refused: %s", async (compile, reason) => {
  const { folder, write } = temp();
  write("mine.mjs", `export default { schema: { properties: {} }, compile: ${compile} }`);
  const found = await problem(await registryIn(`${folder}/work`), { use: "./mine.mjs" });
  expect(found).toMatchObject({ path: "/use", message: expect.stringMatching(reason) });
});

test("compile may return an instance of a class", async () => {
  const { folder, write } = temp();
  write(
    "mine.mjs",
    `class Mine { count = 0; call(next) { return (call) => { this.count += 1; return next(call); }; } }
     export default { schema: { properties: {} }, compile: () => new Mine() }`,
  );
  expect(await problem(await registryIn(`${folder}/work`), { use: "./mine.mjs" })).toBeUndefined();
});

test("an own layer needs --middleware-dir, and a repaired file is loaded again", async () => {
  expect(await problem(await registryIn(undefined), { use: "./word.mjs" })).toMatchObject({
    message: expect.stringContaining("--middleware-dir"),
  });
  const { folder, write } = temp();
  write("word.mjs", "export default 1");
  const registry = await registryIn(`${folder}/work`);
  expect(await problem(registry, { use: "./word.mjs", word: "x" })).toBeDefined();
  write("word.mjs", GOOD);
  await expect.poll(() => problem(registry, { use: "./word.mjs", word: "x" })).toBeUndefined();
});

const layerOf = async (body: string) => {
  const { folder, write } = temp();
  write("mine.mjs", `export default { schema: { properties: {} }, compile: (options, kit) => (${body}) }`);
  const registry = await registryIn(`${folder}/work`);
  const entry = { use: "./mine.mjs" };
  await registry.prepare([entry]);
  return { ...registry.compile(entry, { clock: new ManualClock() }), use: entry.use, at: "here" };
};

test.each([
  ["call: (next) => async (call) => { await next(call); return next(call); }", /makes the call twice/],
  ["call: (next) => (call) => next({ server: 'one' })", /does not pass on the call/],
  ["call: (next) => (call) => next({ ...call, server: 'two' })", /turns it into another call/],
  [
    "call: (next) => (call) => next({ ...call, params: kit.toRaw({ name: 'drop' }) })",
    /turns it into another call/,
  ],
  ["call: (next) => (call) => next({ ...call, origin: { ...call.origin } })", /changes the caller/],
  ["call: (next) => (call) => next({ ...call, deadline: 1e9 })", /extends the time/],
  ["call: (next) => () => ({ content: [] })", /does not return the bytes/],
  ["call: (next) => () => { throw new TypeError('oops'); }", /failed, so the call was refused/],
])("a layer that breaks the rules for calls fails the call: %s", async (body, reason) => {
  const seen: unknown[] = [];
  const handler = pipelineOf(
    [await layerOf(`{ ${body} }`)],
    async (call) => {
      seen.push(call);
      return raw("{}");
    },
    new ManualClock(),
  );
  await expect(handler(callOf({ more: { deadline: 1_000 } }))).rejects.toThrow(reason);
  expect(seen.length).toBeLessThanOrEqual(1);
});

test("a layer that ignores the promise of next causes no unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const record = (error: unknown): void => void unhandled.push(error);
  process.prependListener("unhandledRejection", record);
  const forgets = await layerOf("{ call: (next) => async (call) => { next(call); return kit.toRaw({}); } }");
  const refuses: PlacedLayer = { use: "no", at: "here", call: () => () => Promise.reject(new Error("no")) };
  const handler = pipelineOf([forgets, refuses], async () => raw("{}"), new ManualClock());
  expect(String(await handler(callOf()))).toBe("{}");
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", record);
  expect(unhandled).toEqual([]);
});

test.each([
  [
    "request: (next) => async (asked) => { await next(asked); return next(asked); }",
    /passes the request on twice/,
  ],
  ["request: (next) => (asked) => next({ method: 'tools/call' })", /does not pass on the request/],
  ["request: (next) => () => ({ tools: [] })", /does not return the bytes/],
])("a layer that breaks the rules for requests fails the request: %s", async (body, reason) => {
  let answers = 0;
  const { origin, signal, uplink } = callOf();
  const request = { method: "tools/call", params: raw("{}"), origin, signal, uplink };
  const answered = new RequestLayers([await layerOf(`{ ${body} }`)]).handle(request, async () => {
    answers += 1;
    return raw("{}");
  });
  await expect(answered).rejects.toThrow(reason);
  expect(answers).toBeLessThanOrEqual(1);
});

test("inner layers get the original request, even if an own layer changed it", async () => {
  const seen: unknown[] = [];
  const changes = await layerOf("{ request: (next) => (asked) => next({ ...asked, own: undefined }) }");
  const inner: PlacedLayer = {
    use: "inner",
    at: "here",
    request: (next) => (asked) => {
      seen.push(asked.own?.name);
      return next(asked);
    },
  };
  const { origin, signal, uplink } = callOf();
  const request = { method: "tools/call", params: raw("{}"), origin, signal, uplink, own: ownFacts("mine") };
  await new RequestLayers([changes, inner]).handle(request, async () => raw("{}"));
  expect(seen).toEqual(["mine"]);
});

test("a list rule that throws hides the tool, and a keyOf that throws gives the principal its own list", async () => {
  const { list, hidesOwn } = await layerOf(`{
    list: { keyOf: () => { throw new Error("no") }, hides: () => { throw new Error("no") } },
    hidesOwn: () => { throw new Error("no") },
  }`);
  const { facts, origin } = callOf();
  if (!facts) throw new Error("a call of the fixture has facts");
  expect(list?.hides(facts, origin.principal)).toBe("the layer failed");
  expect(list?.keyOf?.(origin.principal)).toBe(origin.principal.id);
  expect(hidesOwn?.(facts, origin.principal)).toBe(true);
});
