/** execute_code on the metatools surface: its answers, its permissions and its size for the model. */
import { expect, test } from "vitest";
import { Metatools } from "../../support/metatools.ts";
import { fixture, temp } from "../../support/temp.ts";

async function open(options: { server?: object; capabilities?: object; maxResultBytes?: number } = {}) {
  const folder = temp();
  const journal = folder.journal();
  const { server, maxResultBytes } = options;
  folder.writeConfig(
    { a: { ...fixture("--journal", journal.file), ...server } },
    maxResultBytes === undefined ? {} : { maxResultBytes },
  );
  const metatools = await Metatools.open(folder, options);
  const run = async (code: string, more: object = {}, meta?: object) =>
    await metatools.call("execute_code", { language: "javascript", code, ...more }, meta);
  return { metatools, journal, run };
}

test("execute_code returns the value, the printed text and the calls", async () => {
  const { metatools, run } = await open();
  const { value, text } = await run(
    "console.log('out'); console.warn('odd'); const [hit] = await search('add numbers'); (await tools.a.add({ a: 1, b: 2 })).sum",
  );
  expect(value).toEqual({
    value: 3,
    stdout: "out\n",
    stderr: "odd\n",
    durationMs: expect.any(Number),
    calls: [
      { server: "metamcp", tool: "search", ms: expect.any(Number) },
      { server: "a", tool: "add", ms: expect.any(Number) },
    ],
  });
  expect(JSON.parse(text)).toMatchObject({ value: 3, stdout: "out\n" });
  const typed = await run(
    "const n: number = 20; function twice<T>(x: T): [T, T] { return [x, x]; } return twice(n)",
    {
      language: "typescript",
    },
  );
  expect(typed.value.value).toEqual([20, 20]);
  expect((await run("let nothing = 1;")).value).not.toHaveProperty("value");
  expect((await run("null")).value.value).toBeNull();
  await metatools.close();
});

test("a failure names its reason and line and includes the output so far", async () => {
  const { metatools, run } = await open();
  const failed = await run("console.log('before');\nawait tools.a.echo({ message: 'x' });\nnull.x");
  expect(failed.error).toMatchObject({ code: "execution_failed", op: "execute_code", details: { line: 3 } });
  expect(failed.value).toMatchObject({ stdout: "before\n", calls: [{ server: "a", tool: "echo" }] });
  expect((await run("for (;;);", { timeout_ms: 100 })).error).toMatchObject({ code: "sandbox_limit" });
  const many = await run("await tools.a.echo({ message: '1' }); await tools.a.echo({ message: '2' })", {
    max_tool_calls: 1,
  });
  expect(many.error).toMatchObject({ code: "sandbox_limit", details: { limit: "calls" } });
  expect(many.value.calls).toHaveLength(1);
  expect((await run("await tools.a.is_error({}).catch((e) => e.message)")).value.value).toMatch(/failed/);
  for (const args of [
    { language: "python", code: "1" },
    { language: "javascript" },
    { code: "1" },
    { language: "javascript", code: "1", timeout_ms: 0 },
    { language: "javascript", code: "1", max_tool_calls: -1 },
    { language: "javascript", code: "1", backend: "docker" },
  ])
    expect((await metatools.call("execute_code", args)).error).toMatchObject({
      code: "validation_input",
      op: "execute_code",
    });
  await metatools.close();
});

test("progress reports start and end, or the progress of the code and its calls", async () => {
  const { metatools, run } = await open();
  const reported = async (code: string, progressToken: string): Promise<unknown[]> => {
    await run(code, {}, { progressToken });
    return metatools.client.notifications
      .filter(({ params }) => params?.["progressToken"] === progressToken)
      .map(({ params }) => params?.["progress"]);
  };
  expect(await reported("1", "quiet")).toEqual([0, 1]);
  expect(await reported("progress(5, 10); progress(10, 10)", "own")).toEqual([0, 5, 10]);
  expect(await reported("await tools.a.echo({ message: 'x' }); await tools.a.pid({})", "calls")).toEqual([
    0, 1, 2,
  ]);
  await metatools.close();
});

test("large values, prints and failures are shortened to 4 KB and can be read completely", async () => {
  const { metatools, run } = await open({ maxResultBytes: 20_000 });
  const read = async (uri: string): Promise<string> => {
    let whole = "";
    for (let at: string | undefined = uri; at !== undefined; ) {
      const page = await metatools.call("run_tool", { tool_id: "metamcp:read", args: { uri: at } });
      at = page.meta?.["metamcp/next"] as string | undefined;
      whole += at === undefined ? page.text : page.text.slice(0, page.text.lastIndexOf("\n\n"));
    }
    return whole;
  };
  const rows = "console.log('rows'); await tools.a.pid({}); Array.from({ length: 9000 }, (_, n) => ({ n }))";
  const value = await run(rows);
  expect(value.value).toMatchObject({ stdout: "rows\n", calls: [{ server: "a", tool: "pid" }] });
  expect(value.value.value.slice(0, 2)).toEqual([{ n: 0 }, { n: 1 }]);

  const print = "for (let n = 0; n < 500; n++) console.log(n + ' ' + 'x'.repeat(100));";
  const printed = await run(print);
  expect(printed.value.stdout).toMatch(/^0 x+\n/);
  expect(printed.value).not.toHaveProperty("value");
  const failed = await run(`${print} throw new Error("no" + " luck".repeat(3000))`);
  expect(failed.error).toMatchObject({ code: "execution_failed", message: expect.stringMatching(/no luck/) });

  for (const answer of [value, printed, failed]) {
    expect(answer.bytes).toBeLessThanOrEqual(4_096 + 60);
    const link = answer.content.find(({ type }) => type === "resource_link");
    const whole = JSON.parse(await read(link?.uri ?? "")) as { structuredContent: Record<string, unknown> };
    expect(whole.structuredContent).toMatchObject({ durationMs: answer.value.durationMs });
    if (answer === value) expect(whole.structuredContent["value"]).toHaveLength(9_000);
    else expect(whole.structuredContent["stdout"]).toContain("\n499 x");
  }
  const controls = "console.log('\\u0001'.repeat(9000)); throw new Error('\"'.repeat(9000))";
  const emptyLines = "for (let n = 0; n < 9000; n++) console.log(''); 'x'.repeat(20000)";
  for (const code of [controls, emptyLines]) expect((await run(code)).bytes).toBeLessThanOrEqual(4_096 + 60);
  await metatools.close();
});

test("calls from code follow the same rules, can read stored results, and are cancelled with the code", async () => {
  const { metatools, journal, run } = await open({
    server: { tools: { ask: ["count"], deny: ["add"] } },
    capabilities: { elicitation: {} },
  });
  const answers = ["accept", "decline"];
  metatools.client.reply = () => ({ result: { action: answers.shift() } });
  const twice =
    "const r = []; for (const key of ['k', 'l']) r.push(await tools.a.count({ key }).catch((e) => e.code)); r";
  expect((await run(twice)).value.value).toEqual(["k 1", "forbidden"]);
  expect((await run("tools.a.add({ a: 1, b: 1 }).catch((e) => e.code)")).value.value).toBe("tool_not_found");

  const big = await metatools.call("run_tool", { tool_id: "a:big", args: { bytes: 200_000 } });
  const uri = big.content.find(({ type }) => type === "resource_link")?.uri;
  const all = `let uri = ${JSON.stringify(uri)}, length = 0; while (uri) { const page = await servers.metamcp.call("read", { uri }); const [text] = page.content[0].text.split("\\n\\nNext page: "); length += text.length; uri = page._meta?.["metamcp/next"]; } length`;
  expect((await run(all)).value.value).toBe(200_000 - 39);
  expect((await run(`(await read(${JSON.stringify(uri)})).length`)).value.value).toBe(200_000 - 39);

  const { client } = metatools;
  void client
    .tool("execute_code", {
      language: "javascript",
      code: "await tools.a.sleep({ ms: 60000 }); await tools.a.pid({})",
    })
    .catch(() => {});
  const ran = (): unknown[] => journal.events().map(({ tool }) => tool);
  await journal.until(() => ran().includes("sleep"));
  client.notify("notifications/cancelled", { requestId: client.lastId });
  await journal.until(() => journal.events("cancelled").length > 0);
  expect((await run("6 * 7")).value.value).toBe(42);
  expect(ran()).not.toContain("pid");
  await metatools.close();
});

test("--no-code removes execute_code", async () => {
  const folder = temp();
  const metatools = await Metatools.open(folder, { flags: ["--no-code"] });
  expect(metatools.definitions.map(({ name }) => name)).not.toContain("execute_code");
  const { code, message } =
    (await metatools.refused("execute_code", { language: "javascript", code: "1" })) ?? {};
  expect(code).toBe(-32602);
  expect(message).not.toMatch(/here:.*execute_code/);
  const { result } = await metatools.client.request("tools/list");
  expect(JSON.stringify(result)).not.toContain("execute_code");
  await metatools.close();
});
