/** The commands describe, call and chain, for people and with --json. */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { verbatim } from "../../support/metatools.ts";
import { fixture, temp } from "../../support/temp.ts";

test("describe shows inputs, examples and token costs, as text and as JSON", async () => {
  const folder = temp();
  folder.writeConfig({ a: { ...fixture(), examples: { echo: [{ message: "hi" }] } } });
  const [people, json, short, missing] = await Promise.all([
    metamcp(folder, ["describe", "a", "echo"]),
    metamcp(folder, ["describe", "a:echo", "--json"]),
    metamcp(folder, ["describe", "a:echo", "--detail", "summary"]),
    metamcp(folder, ["describe", "a:ecko"]),
  ]);
  expect(people).toMatchObject({ code: 0, err: "" });
  expect(people.out).toMatch(
    /^a:echo\n\nSays the message back\.\n\nINPUT[\s\S]*message +string +required[\s\S]*From the config: \{"message":"hi"\}/,
  );
  expect(people.out).toMatch(/Tokens for a model: summary ~\d+, schema ~\d+, full ~\d+\.\n$/);
  expect(JSON.parse(json.out)).toMatchObject({
    summary: "Says the message back.",
    examples: [{ args: { message: "hi" } }],
  });
  expect(short.out).not.toContain("INPUT");
  expect(missing).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringMatching(/tool_not_found.*Nearest: echo/),
  });
});

test("call accepts a tool id and prints results of any size completely", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() }, { maxResultBytes: 1_000 });
  const [sum, big, wrong] = await Promise.all([
    metamcp(folder, ["call", "a:add", "a=1", "b=2"]),
    metamcp(folder, ["call", "a", "big", "bytes=300000", "--json"]),
    metamcp(folder, ["call", "a"]),
  ]);
  expect(sum).toEqual({ code: 0, out: "3\n", err: "" });
  expect(big.out.length).toBe(300_001);
  expect(wrong).toMatchObject({ code: 2, err: expect.stringMatching(/SERVER:TOOL/) });
});

test("call reads arguments from stdin, has a time limit, and saves images and texts to files", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture(), v: verbatim(folder) });
  const block = (type: string, text: string) => ({ type, mimeType: "x/y", data: btoa(text) });
  const blob = { type: "resource", resource: { uri: "x:1", blob: btoa("three") } };
  const content = [block("image", "one"), { type: "text", text: "two" }, block("audio", "2"), blob];
  const give = JSON.stringify({ result: JSON.stringify({ content }) });
  const [piped, empty, late, saved, plain, failed] = await Promise.all([
    metamcp(folder, ["call", "a:add", "-"], '{"a": 1,\n "b": 2}\n'),
    metamcp(folder, ["call", "a:add", "-"], "a=1"),
    metamcp(folder, ["call", "a:hang", "--timeout", "2s"]),
    metamcp(folder, ["call", "v:give", "-", "--out", "i.png"], give),
    metamcp(folder, ["call", "a:add", "a=1", "b=2", "--out", "sum.txt"]),
    metamcp(folder, ["call", "a:is_error", "--out", "failed.txt"]),
  ]);
  expect(piped).toEqual({ code: 0, out: "3\n", err: "" });
  expect(empty).toMatchObject({ code: 2, err: expect.stringContaining("not a JSON object") });
  expect(late).toMatchObject({ code: 1, out: "", err: expect.stringContaining("no result within 2000 ms") });
  expect(saved).toEqual({ code: 0, out: "two\n", err: "Saved i.png\nSaved i-2.png\nSaved i-3.png\n" });
  const names = ["i.png", "i-2.png", "i-3.png", "sum.txt"];
  const read = names.map((name) => readFileSync(folder.path(name), "utf8"));
  expect(read).toEqual(["one", "2", "three", "3\n"]);
  expect(plain.out).toBe("");
  expect(failed.code).toBe(1);
  expect(existsSync(folder.path("failed.txt"))).toBe(false);
});

test("chain runs a file or stdin, keeps long numbers, and exits with 1 if a step failed", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture(), v: verbatim(folder) });
  const steps = `[
    {"tool_id": "v:give", "args": {"result": "{\\"content\\":[],\\"structuredContent\\":{\\"n\\":12345678901234567890}}"}},
    {"tool_id": "a:args", "args": {"n": {"$from": "steps/0/structured/n"}}}
  ]`;
  const file = folder.write("chain.json", steps);
  const failing = folder.write("failing.json", '{"steps":[{"tool_id":"a:is_error"},{"tool_id":"a:pid"}]}');
  const [people, json, dry, failed, goesOn, piped] = await Promise.all([
    metamcp(folder, ["chain", file]),
    metamcp(folder, ["chain", file, "--json"]),
    metamcp(folder, ["chain", file, "--dry-run"]),
    metamcp(folder, ["chain", failing]),
    metamcp(folder, ["chain", failing, "--on-error", "continue", "--parallel", "--json"]),
    metamcp(folder, ["chain", "-"], '[{"tool_id":"a:echo","args":{"message":"hello"}}]'),
  ]);
  expect(people.code).toBe(0);
  expect(people.out).toMatch(/STEP +TOOL +MS +RESULT\n0 +v:give .*✓/);
  expect(people.out).toContain('"arguments":{"n": 12345678901234567890}');
  expect(json.out).toContain('"structured":{"n":12345678901234567890}');
  expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/✓ fits\n1 .*✓ fits\n$/) });
  expect(failed).toMatchObject({
    code: 1,
    out: expect.stringMatching(/✗ execution_failed/),
    err: expect.stringMatching(/^chain_step_failed: Step 0/),
  });
  expect(goesOn.code).toBe(1);
  expect(JSON.parse(goesOn.out).results).toMatchObject([
    { error: { code: "execution_failed" } },
    { structured: expect.any(Number) },
  ]);
  expect(piped.out).toMatch(/\n\nhello\n$/);
});

test("text output keeps all digits of long numbers", async () => {
  const folder = temp();
  const long = "12345678901234567890";
  const properties = { n: { type: "integer", default: "long", examples: ["long"] } };
  const v = verbatim(folder, [{ name: "count", inputSchema: { type: "object", properties } }]);
  folder.write("tools.json", readFileSync(folder.path("tools.json"), "utf8").replaceAll('"long"', long));
  folder.writeConfig({ v });
  const result = `{"content":[],"structuredContent":{"n":${long}}}`;
  const give = { tool_id: "v:give", args: { result } };
  const [described, called, plain, empty, saved, chained] = await Promise.all([
    metamcp(folder, ["describe", "v:count"]),
    metamcp(folder, ["call", "v:give", JSON.stringify({ result })]),
    metamcp(folder, ["call", "v:give", JSON.stringify({ result: result.replace(long, "1") })]),
    metamcp(folder, ["chain", folder.write("empty.json", "[]")]),
    metamcp(folder, ["call", "v:give", JSON.stringify({ result }), "--out", "long.json"]),
    metamcp(folder, ["chain", folder.write("chain.json", JSON.stringify([give]))]),
  ]);
  expect(described.out).toMatch(/n +int +12345678901234567890\n/);
  expect(described.out).toContain(`From the tool's schema: {"n":${long}}`);
  expect(called).toMatchObject({ code: 0, out: `{"n":${long}}\n` });
  expect(plain.out).toBe('{\n  "n": 1\n}\n');
  expect(saved.code).toBe(0);
  expect(readFileSync(folder.path("long.json"), "utf8")).toBe(`{"n":${long}}\n`);
  expect(chained.out).toMatch(/✓ \{"n":12345678901234567890\}/);
  expect(empty).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/validation_input/) });
});

test("chain reports a missing file, invalid JSON and an invalid chain", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const [none, garbage, text, empty] = await Promise.all([
    metamcp(folder, ["chain", "nowhere.json"]),
    metamcp(folder, ["chain", folder.write("x.json", "{")]),
    metamcp(folder, ["chain", folder.write("y.json", '"steps"')]),
    metamcp(folder, ["chain", folder.write("z.json", "[]")]),
  ]);
  expect([none.code, garbage.code, text.code]).toEqual([2, 2, 2]);
  expect(garbage.err).toMatch(/is not JSON/);
  expect(empty).toMatchObject({ code: 1, err: expect.stringMatching(/validation_input.*1 to 32, not 0/) });
});
