/** `metamcp exec`: runs code from a file. */
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { fixture, temp } from "../../support/temp.ts";

function folderWith(code: string, env: Record<string, string> = {}) {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  folder.write("it.ts", code);
  return { ...folder, env: { ...folder.env, ...env } };
}

const SUM = `
const sums: number[] = [];
for (const n of [1, 2]) sums.push((await tools.a.add({ a: n, b: n })).sum);
console.log("made", sums.length);
sums`;

test("exec prints only the value on stdout, and logs and calls on stderr", async () => {
  const folder = folderWith(SUM);
  const { code, out, err } = await metamcp(folder, ["exec", "it.ts"]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual([2, 4]);
  expect(err).toMatch(/^made 2$/m);
  expect(err.match(/^a +add +[\d.]+ ms +ok *$/gm)).toHaveLength(2);
  expect(err).toMatch(/^2 calls, \d+ ms$/m);
  const json = await metamcp(folder, ["exec", "it.ts", "--json"]);
  expect(JSON.parse(json.out)).toMatchObject({
    value: [2, 4],
    logs: [{ level: "log", text: "made 2" }],
    calls: [{ tool: "add" }, { tool: "add" }],
  });
});

test("exec prints integers beyond 2^53 with all digits", async () => {
  const folder = folderWith("({ id: 12345678901234567890n })");
  const { out } = await metamcp(folder, ["exec", "it.ts"]);
  expect(out).toBe('{"id":12345678901234567890}\n');
  const json = await metamcp(folder, ["exec", "it.ts", "--json"]);
  expect(json.out).toContain('"value":{"id":12345678901234567890}');
});

test("a failure names its line, shows the calls so far, and exits with 1", async () => {
  const folder = folderWith("await tools.a.pid({});\n\nnull.x");
  const { code, out, err } = await metamcp(folder, ["exec", "it.ts"]);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toMatch(/execution_failed: TypeError: .*\(line 3\): null\.x/);
  expect(err).toMatch(/^a +pid +[\d.]+ ms +ok *$/m);
  const slow = await metamcp(folder, ["exec", "-", "--timeout", "300"], "await new Promise(() => {})");
  expect(slow.code).toBe(1);
  expect(slow.err).toContain("sandbox_limit");
  expect(await metamcp(folder, ["exec", "nowhere.js"])).toMatchObject({ code: 2, out: "" });
});

test("exec prints a large value completely", async () => {
  const { code, out } = await metamcp(folderWith("'x'.repeat(300000)"), ["exec", "it.ts"]);
  expect([code, out.length]).toEqual([0, 300_001]);
});

test("exec uses the configured backend, warns about an unsafe one, and refuses with --no-code", async () => {
  const where = "typeof process";
  const dev = await metamcp(folderWith(where, { METATOOLS_RUNTIME_PROFILE: "dev" }), ["exec", "it.ts"]);
  expect(dev.out).toBe("object\n");
  expect(dev.err).toContain("UNSAFE");
  const wasm = await metamcp(
    folderWith(where, { METATOOLS_RUNTIME_PROFILE: "dev", METAMCP_RUNTIME_BACKEND: "wasm" }),
    ["exec", "it.ts"],
  );
  expect(wasm.out).toBe("undefined\n");
  expect(wasm.err).not.toContain("UNSAFE");
  for (const [env, flags] of [
    [{ METAMCP_NO_CODE: "1" }, []],
    [{}, ["--no-code"]],
  ] as const) {
    const none = await metamcp(folderWith(where, env), ["exec", "it.ts", ...flags]);
    expect([none.code, none.out]).toEqual([2, ""]);
    expect(none.err).toContain("--no-code");
  }
});
