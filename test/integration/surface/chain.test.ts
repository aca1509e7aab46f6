/** Chains over stdio: values passed between steps, errors, and no step after the end. */
import { expect, test } from "vitest";
import { Metatools, runVerbatim, verbatim } from "../../support/metatools.ts";
import { fixture, temp } from "../../support/temp.ts";

const echo = (message: unknown, more: object = {}) => ({ tool_id: "a:echo", args: { message }, ...more });
const from = (path: string) => ({ $from: path });

async function open(options: { server?: object; capabilities?: object } = {}) {
  const folder = temp();
  const journal = folder.journal();
  const closed = { type: "object", properties: { n: { type: "number" } }, additionalProperties: false };
  const v = verbatim(folder, [
    { name: "back", inputSchema: { type: "object" } },
    { name: "typed", inputSchema: { type: "object" }, outputSchema: closed },
  ]);
  folder.writeConfig({ a: { ...fixture("--journal", journal.file), ...options.server }, v });
  const metatools = await Metatools.open(folder, options);
  const chain = async (steps: readonly object[], more: object = {}, meta?: object) =>
    await metatools.call("run_chain", { steps, ...more }, meta);
  return {
    metatools,
    journal,
    chain,
    ran: () =>
      journal
        .events()
        .filter(({ tool }) => tool !== undefined)
        .map(({ tool }) => tool),
  };
}

test("use_previous puts the previous value into args.previous and replaces a given one", async () => {
  const { metatools, chain } = await open();
  const { value } = await chain([
    { ...runVerbatim({ content: [], structuredContent: { n: 1 } }), use_previous: true },
    { tool_id: "v:back", args: { previous: "mine", other: 2 }, use_previous: true },
    { tool_id: "v:back", args: { previous: "mine" } },
  ]);
  expect(value.results.map(({ structured }: { structured: unknown }) => structured)).toEqual([
    { n: 1 },
    { args: { previous: { n: 1 }, other: 2 } },
    { args: { previous: "mine" } },
  ]);
  expect(value.final).toEqual({ args: { previous: "mine" } });
  expect(value.results[0]).toEqual({
    tool_id: "v:give",
    structured: { n: 1 },
    durationMs: expect.any(Number),
  });
  const full = await chain([echo("x")], { include_tools: true, include_backends: true });
  expect(full.value.results).toMatchObject([
    { tool: { name: "echo" }, backend: { kind: "mcp", server: "a" } },
  ]);
  await metatools.close();
});

test("references select parts of earlier results at any depth and keep all digits", async () => {
  const { metatools } = await open();
  const written =
    '{"content":[],"structuredContent":{"items":[{"id":1},{"id":12345678901234567890}],"a/b":{"~":"tilde"},"__proto__":{"x":1.50}}}';
  const steps = [
    runVerbatim(written),
    {
      tool_id: "v:back",
      args: {
        id: from("steps/0/structured/items/1/id"),
        deep: [{ er: from("/steps/0/structured/a~1b/~0") }, { $from: 7 }, { $from: "x", more: 1 }],
        odd: from("steps/0/structured/__proto__/x"),
      },
    },
    { tool_id: "a:args", args: { id: from("steps/0/structured/items/1/id") } },
    { tool_id: "v:back", args: { whole: from("steps/1/structured") } },
  ];
  const { raw, result } = await metatools.client.request("tools/call", {
    name: "run_chain",
    arguments: { steps },
  });
  const { value } = metatools.read("run_chain", result ?? {});
  expect(value.results[1].structured.args).toMatchObject({
    deep: [{ er: "tilde" }, { $from: 7 }, { $from: "x", more: 1 }],
    odd: 1.5,
  });
  expect(raw.toString()).toContain('"arguments":{"id":12345678901234567890}');
  expect(value.final.args.whole.args.deep[0]).toEqual({ er: "tilde" });

  const lost = await metatools.call("run_chain", {
    steps: [runVerbatim(written), { tool_id: "v:back", args: { x: from("steps/0/structured/items/2/id") } }],
  });
  expect(lost.error).toMatchObject({ code: "chain_step_failed", step_index: 1 });
  expect(lost.value.results[1].error).toMatchObject({
    code: "validation_input",
    message: expect.stringMatching(/structured\/items is a list of 2/),
  });
  await metatools.close();
});

test("a chain stops at the first error and returns the earlier results with the reason", async () => {
  const { metatools, chain, ran } = await open();
  const answer = await chain([
    echo("one"),
    { tool_id: "a:is_error", args: { message: "no" } },
    echo("three"),
  ]);
  expect(answer.value.results).toMatchObject([
    { structured: "one" },
    { tool_id: "a:is_error", error: { code: "execution_failed" } },
  ]);
  expect(answer.value).not.toHaveProperty("final");
  expect(answer.error).toMatchObject({
    code: "chain_step_failed",
    step_index: 1,
    tool_id: "a:is_error",
    server: "a",
    op: "run_chain",
    retryable: false,
    details: { cause: { code: "execution_failed", message: "a:is_error failed: no" } },
  });
  expect(ran()).toEqual(["echo", "is_error"]);
  await metatools.close();
});

test("an error names the right step when there are more than ten", async () => {
  const { metatools, chain } = await open();
  const answer = await chain([
    ...Array.from({ length: 12 }, (_, n) => echo(String(n))),
    { tool_id: "a:fail" },
  ]);
  expect(answer.error).toMatchObject({
    step_index: 12,
    message: expect.stringMatching(/^Step 12 \(a:fail\)/),
  });
  expect(answer.value.results).toHaveLength(13);
  await metatools.close();
});

test("on_error: continue runs the remaining steps except those that need a failed one", async () => {
  const { metatools, chain, ran } = await open();
  const answer = await chain(
    [
      { tool_id: "a:is_error" },
      echo("free"),
      echo(from("steps/0/structured")),
      { tool_id: "a:no_such_tool" },
      { tool_id: "a:echo", use_previous: true, args: { message: "x" } },
      echo("last"),
    ],
    { on_error: "continue" },
  );
  expect(answer.error).toBeUndefined();
  expect(
    answer.value.results.map(
      ({ error, structured }: { error?: { code: string }; structured?: string }) => error?.code ?? structured,
    ),
  ).toEqual(["execution_failed", "free", "validation_input", "tool_not_found", "validation_input", "last"]);
  expect(answer.value.final).toBe("last");
  expect(answer.content[1]?.text).toBe("4 of 6 steps failed: see results.");
  expect(ran()).toEqual(["is_error", "echo", "echo"]);
  await metatools.close();
});

test("parallel steps run at once unless they need each other, and results keep their positions", async () => {
  const { metatools, journal, chain, ran } = await open({ capabilities: { elicitation: {} } });
  const { client } = metatools;
  const running = chain(
    [
      { tool_id: "a:ask" },
      { tool_id: "a:add", args: { a: 1, b: 2 } },
      echo(from("steps/0/structured/answer/content/name")),
      { tool_id: "a:add", args: { a: from("steps/1/structured/sum"), b: 1 } },
    ],
    { parallel: true },
  );
  // The first step ends when its question is answered, which is after the steps that do not need it.
  await client.until(({ requests }) => requests.length > 0);
  await journal.until(() => ran().length === 3);
  const [question] = client.requests;
  const result = { action: "accept", content: { name: "Ada" } };
  client.write(`${JSON.stringify({ jsonrpc: "2.0", id: question?.id, result })}\n`);
  const answer = await running;
  expect(answer.value.results.map(({ structured }: { structured: unknown }) => structured)).toEqual([
    { answer: result },
    { sum: 3 },
    "Ada",
    { sum: 4 },
  ]);
  expect(answer.value.final).toEqual({ sum: 4 });
  expect(ran()).toEqual(["ask", "add", "add", "echo"]);

  const failed = await chain(
    [{ tool_id: "a:sleep", args: { ms: 60_000 } }, { tool_id: "a:fail" }, echo(from("steps/0/structured"))],
    { parallel: true },
  );
  expect(failed.value.results.map(({ error }: { error: { code: string } }) => error.code)).toEqual([
    "cancelled",
    "execution_failed",
    "cancelled",
  ]);
  expect(failed.error).toMatchObject({ code: "chain_step_failed", step_index: 1 });
  await journal.until(() => journal.events("cancelled").length > 0);
  await metatools.close();
});

test("a step over its timeout_ms is cancelled at the child and reports timeout", async () => {
  const { metatools, journal, chain } = await open();
  const answer = await chain([
    echo("x", { timeout_ms: 60_000 }),
    { tool_id: "a:hang", timeout_ms: 100 },
    echo("y"),
  ]);
  expect(answer.value.results).toHaveLength(2);
  expect(answer.value.results[1].error).toMatchObject({
    code: "timeout",
    step_index: 1,
    tool_id: "a:hang",
    retryable: false,
  });
  expect(answer.error?.details?.cause?.code).toBe("timeout");
  await journal.until(() => journal.events("cancelled").length > 0);
  const safe = await chain([{ tool_id: "a:count_safe", args: { key: "k", hangs: 1 }, timeout_ms: 100 }]);
  expect(safe.value.results[0].error).toMatchObject({ code: "timeout", retryable: true });
  await metatools.close();
});

test("a step that times out before its server is connected is retryable, because nothing was sent", async () => {
  const folder = temp();
  folder.writeConfig({ late: fixture("--wait-for", folder.path("go")) });
  const metatools = await Metatools.open(folder);
  const steps = [{ tool_id: "late:count_unsafe", args: { key: "k" }, timeout_ms: 100 }];
  const { value } = await metatools.call("run_chain", { steps });
  expect(value.results[0].error).toMatchObject({
    code: "timeout",
    retryable: true,
    message: expect.stringMatching(/not connected yet, and nothing was sent/),
  });
  folder.write("go", "");
  const again = await metatools.call("run_chain", { steps: [{ ...steps[0], timeout_ms: 50_000 }] });
  expect(again.error).toBeUndefined();
  await metatools.close();
});

test("cancelling a chain cancels the running step and starts no further one", async () => {
  const { metatools, journal, ran } = await open();
  const { client } = metatools;
  const steps = [echo("first"), { tool_id: "a:sleep", args: { ms: 60_000 } }, echo("never")];
  void client.tool("run_chain", { steps, on_error: "continue" }).catch(() => {});
  await journal.until(() => ran().includes("sleep"));
  client.notify("notifications/cancelled", { requestId: client.lastId });
  await journal.until(() => journal.events("cancelled").length > 0);
  await metatools.call("run_tool", echo("after"));
  expect(ran()).toEqual(["echo", "sleep", "echo"]);
  await metatools.close();
});

test("a dry run checks all steps against the schemas and runs none", async () => {
  const { metatools, chain, ran } = await open();
  const fits = await chain(
    [
      { tool_id: "a:add", args: { a: 1, b: 2 } },
      { tool_id: "a:add", args: { a: from("steps/0/structured/sum"), b: 2 } },
      { tool_id: "v:back", use_previous: true },
    ],
    { dry_run: true },
  );
  expect(fits.value.results).toEqual([0, 1, 2].map(() => ({ tool_id: expect.any(String), durationMs: 0 })));
  expect(fits.content[1]?.text).toBe("All steps are valid. Nothing was run.");
  const bad = await chain([{ tool_id: "a:add", args: { a: from("steps/0/structured"), b: 2 } }], {
    dry_run: true,
  });
  expect(bad.error).toMatchObject({
    code: "validation_input",
    step_index: 0,
    message: expect.stringMatching(/earlier step/),
  });
  const misfits = await chain(
    [
      { tool_id: "a:add", args: { a: 1 } },
      { tool_id: "a:add", args: { a: from("steps/0/structured/sum"), b: "two" } },
      { tool_id: "a:nothing" },
      { tool_id: "nobody:nothing" },
      { tool_id: "metamcp:nothing" },
      echo("fits"),
    ],
    { dry_run: true },
  );
  expect(misfits.value.results.map(({ error }: { error?: { code: string } }) => error?.code)).toEqual([
    "validation_input",
    "validation_input",
    "tool_not_found",
    "server_not_found",
    "tool_not_found",
    undefined,
  ]);
  expect(misfits.value.results[4].error.message).toBe(
    '"metamcp" has no tool "nothing". It has read, resources, prompts, prompt.',
  );
  expect(misfits.value.results[1].error.details.problems).toEqual(["b must be number"]);
  expect(misfits.error).toMatchObject({ code: "chain_step_failed", step_index: 0 });
  const nowhere = await chain(
    [
      { tool_id: "v:typed" },
      { tool_id: "v:back", args: { n: from("steps/0/structured/n") } },
      { tool_id: "v:back", args: { m: from("steps/0/structured/m") } },
    ],
    { dry_run: true },
  );
  expect(nowhere.error).toMatchObject({ code: "chain_step_failed", step_index: 2 });
  expect(nowhere.value.results[2].error.message).toMatch(
    /steps\/0\/structured\/m is not in the output schema of v:typed/,
  );
  expect(ran()).toEqual([]);
  await metatools.close();
});

test.each([{ dry_run: true }, { on_error: "continue" }, {}])(
  "the schema of a tool is shown once although several steps do not match it: %j",
  async (how) => {
    const folder = temp();
    const inputSchema = {
      type: "object",
      properties: { n: { type: "number", description: "Marmalade." } },
    };
    folder.writeConfig({ v: verbatim(folder, [{ name: "count", inputSchema }]) });
    const metatools = await Metatools.open(folder);
    const steps = [1, 2, 3].map(() => ({ tool_id: "v:count", args: { n: "one" } }));
    const answer = await metatools.call("run_chain", { steps, ...how });
    expect(JSON.stringify(answer.value).split("Marmalade")).toHaveLength(2);
    const problems = ["n must be number"];
    for (const { error } of answer.value.results)
      expect(error).toMatchObject({ code: "validation_input", details: { problems } });
    if (!("on_error" in how))
      expect(answer.error?.details?.cause).toMatchObject({ code: "validation_input", details: { problems } });
    await metatools.close();
  },
);

test("an invalid chain is rejected before any step runs", async () => {
  const { metatools, chain, ran } = await open();
  const refused: readonly (readonly [readonly object[], object, RegExp])[] = [
    [[], {}, /list of 1 to 32/],
    [Array.from({ length: 33 }, () => echo("x")), {}, /list of 1 to 32/],
    [[echo("x"), { tool_id: "a:echo", argz: {} }], {}, /step 1: there is no argument "argz"/],
    [[{ args: {} }], {}, /step 0: "tool_id" is missing/],
    [[{ tool_id: "echo" }], {}, /not a tool id/],
    [[echo("x", { timeout_ms: 0 })], {}, /at least 1/],
    [[echo("x"), echo(from("steps/1/structured"))], {}, /does not refer to an earlier step/],
    [[echo("x"), echo(from("step/0/structured"))], {}, /not a reference/],
    [[echo("x"), echo(from("steps/0"))], {}, /not a reference/],
    [[echo("x")], { on_error: "ignore" }, /must be one of stop, continue/],
    [[echo("x")], { parallel: "yes" }, /must be true or false/],
    [[echo("x")], { turbo: true }, /there is no argument "turbo"/],
  ];
  for (const [steps, more, message] of refused) {
    const { error } = await chain(steps, more);
    expect(error).toMatchObject({
      code: "validation_input",
      op: "run_chain",
      message: expect.stringMatching(message),
    });
  }
  expect(ran()).toEqual([]);
  expect((await chain(Array.from({ length: 32 }, () => echo("x")))).value.final).toBe("x");
  await metatools.close();
});

test("progress is reported per step, including the progress of children", async () => {
  const { metatools, chain } = await open();
  const steps = [echo("x"), { tool_id: "a:progress", args: { n: 2 } }, { tool_id: "a:is_error" }];
  await chain(steps, { on_error: "continue" }, { progressToken: "t" });
  const reports = metatools.client.notifications
    .filter(({ params }) => params?.["progressToken"] === "t")
    .map(({ params }) => params);
  expect(reports.map((report) => report?.["progress"])).toEqual([0, 1, 1.5, 1.99, 2, 3]);
  expect(reports.every((report) => report?.["total"] === 3)).toBe(true);
  expect(reports.at(-1)?.["message"]).toBe("step 2 (a:is_error) failed");
  await metatools.close();
});

test("the rules of a server apply to every step: ask, and deny", async () => {
  const { metatools, chain, ran } = await open({
    server: { tools: { ask: ["echo"], deny: ["add"] } },
    capabilities: { elicitation: {} },
  });
  metatools.client.reply = ({ params }) => ({
    result: { action: JSON.stringify(params).includes("wanted") ? "accept" : "decline" },
  });
  const answer = await chain([echo("wanted"), echo("other")]);
  expect(answer.value.results).toMatchObject([{ structured: "wanted" }, { error: { code: "forbidden" } }]);
  expect((await chain([{ tool_id: "a:add", args: { a: 1, b: 1 } }])).value.results[0].error.code).toBe(
    "tool_not_found",
  );
  expect(ran()).toEqual(["echo"]);
  await metatools.close();
});
