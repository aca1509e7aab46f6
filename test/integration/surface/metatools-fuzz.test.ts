/**
 * Random requests and random results of a server: every answer of the metatools matches its output schema.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Metatools, verbatim } from "../../support/metatools.ts";
import { fixture, temp } from "../../support/temp.ts";

const json = fc.jsonValue({ maxDepth: 2 });
const mostly = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: json });
const maybe = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.option(usual, { nil: undefined });

const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text: mostly(fc.oneof(fc.string(), fc.json())) }),
  fc.record({
    type: fc.constantFrom("image", "audio", "hologram"),
    data: mostly(fc.base64String()),
    mimeType: mostly(fc.string()),
  }),
  fc.record({
    type: fc.constant("resource"),
    resource: mostly(fc.record({ uri: fc.string(), blob: fc.base64String() })),
  }),
  json,
);
const result = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      content: mostly(fc.array(block, { maxLength: 4 })),
      structuredContent: maybe(json),
      isError: maybe(mostly(fc.boolean())),
      _meta: maybe(json),
    }),
  },
  { weight: 1, arbitrary: json },
);
const give = fc.record({
  tool_id: fc.constant("v:give"),
  args: fc.record({ result: result.map((value) => JSON.stringify(value)) }),
});
const tool_id = mostly(
  fc.constantFrom(
    "a:echo",
    "a:add",
    "a:fail",
    "a:is_error",
    "a:weird",
    "v:odd",
    "v:give",
    "metamcp:read",
    "down:x",
    "none:x",
    "x",
    "",
  ),
);
const flag = maybe(mostly(fc.boolean()));
const count = maybe(mostly(fc.integer({ min: -1, max: 1_000 })));
const cursor = maybe(mostly(fc.base64String()));
const args = maybe(
  mostly(
    fc.record(
      { message: mostly(fc.string()), a: mostly(fc.integer()), previous: json },
      { requiredKeys: [] },
    ),
  ),
);
const reference = fc
  .tuple(fc.nat(3), fc.array(fc.constantFrom("a", "0", "~0", "content", "args"), { maxLength: 2 }))
  .map(([step, path]) => ({ $from: ["steps", step, "structured", ...path].join("/") }));
const step = fc.oneof(
  give,
  fc.record({ tool_id: fc.constant("v:odd"), args: fc.record({ x: reference }), use_previous: flag }),
  fc.record({
    tool_id,
    args,
    use_previous: flag,
    timeout_ms: maybe(fc.integer({ min: 500, max: 5_000_000_000 })),
  }),
);

const REQUESTS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  search_tools: fc.record({ query: mostly(fc.string()), limit: count, cursor }),
  list_tools: fc.record({
    limit: count,
    cursor,
    namespace: maybe(mostly(fc.constantFrom("a", "v", "down", "none"))),
  }),
  list_namespaces: fc.record({ limit: count, cursor }),
  describe_tool: fc.record({
    tool_id,
    detail_level: mostly(fc.constantFrom("summary", "schema", "full")),
    examples_max: count,
  }),
  list_tool_examples: fc.record({ tool_id, max: count }),
  run_tool: fc.oneof(
    fc.tuple(give, flag, flag).map(([given, include_mcp_result, include_tool]) => ({
      ...given,
      include_mcp_result,
      include_tool,
    })),
    fc.record({
      tool_id,
      args,
      stream: flag,
      include_tool: flag,
      include_backend: flag,
      include_mcp_result: flag,
    }),
    fc.record({ tool_id, args, backend_override: maybe(json) }),
  ),
  run_chain: fc.record({
    steps: mostly(fc.array(step, { maxLength: 6 })),
    on_error: maybe(mostly(fc.constantFrom("stop", "continue"))),
    parallel: flag,
    dry_run: maybe(mostly(fc.constant(false))),
    include_tools: flag,
    include_backends: flag,
  }),
};

test("every answer matches its schema, and only an invalid cursor is a protocol error", async () => {
  const folder = temp();
  const odd = [
    {
      name: "odd",
      title: 5,
      description: {},
      annotations: [],
      inputSchema: { properties: { x: true, y: null, z: 1 }, required: "x" },
    },
    { name: "old", outputSchema: "none", _meta: { tags: [1, "t"] } },
  ];
  folder.writeConfig({ a: fixture(), v: verbatim(folder, odd), down: { command: "no-such-command" } });
  const metatools = await Metatools.open(folder);
  await metatools.call("list_namespaces");
  for (const [name, requests] of Object.entries(REQUESTS))
    await fc.assert(
      fc.asyncProperty(mostly(requests), async (request) => {
        const params = { name, arguments: request };
        const { result: told, error } = await metatools.client.request("tools/call", params);
        if (error) expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/cursor/) });
        else metatools.read(name, told ?? {});
        const { error: shown } = (told?.["structuredContent"] ?? {}) as { error?: { code: string } };
        expect(shown?.code).not.toBe("internal");
      }),
      { numRuns: 120 },
    );
  await metatools.close();
}, 120_000);
