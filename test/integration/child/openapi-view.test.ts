/** Our own description of tools as OpenAPI, read back: the same tools, and the same answers. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Problem } from "../../../src/admin/problem.ts";
import { readTool } from "../../../src/catalog/read-tool.ts";
import type { Tool } from "../../../src/catalog/tool.ts";
import { readAnswer } from "../../../src/child/openapi/answer.ts";
import { compile } from "../../../src/child/openapi/compile.ts";
import type { Plan } from "../../../src/child/openapi/plan.ts";
import { readDocuments } from "../../../src/child/openapi/read-documents.ts";
import { requestOf } from "../../../src/child/openapi/request.ts";
import { fromRaw, type Raw, toRaw } from "../../../src/kernel/raw.ts";
import { describeTools } from "../../../src/openapi/document.ts";
import { plainResult } from "../../../src/openapi/result.ts";

const URI = "https://gateway.example/metamcp/team/api/openapi.json";
const ABOUT = {
  name: "team",
  description: "",
  url: "https://gateway.example/metamcp/team/api",
  access: { public: false, keys: true, oauth: true, queryKey: true },
};

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
const leaf = fc.oneof(
  fc.record(
    { type: fc.constantFrom("string", "integer", "boolean"), description: text },
    { requiredKeys: ["type"] },
  ),
  fc.record({ enum: fc.array(fc.oneof(text, fc.integer()), { minLength: 1, maxLength: 3 }) }),
  fc.constant({ $ref: "#/$defs/Node" }),
  fc.constant({ $ref: "#" }),
  fc.record({
    type: fc.constant("string"),
    format: fc.constant("binary"),
    readOnly: fc.constant(true),
    example: text,
  }),
);
const part = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 3 }, leaf, tie("list"), tie("choice")),
  list: fc.record({ type: fc.constant("array"), items: tie("any") }),
  choice: fc.record({ oneOf: fc.array(tie("any"), { minLength: 1, maxLength: 3 }) }),
})).any;
/** `Node` is used in each, because definitions that nothing refers to are not kept. */
const schema = fc
  .tuple(fc.dictionary(text, part, { maxKeys: 5 }), fc.option(fc.constant(false), { nil: undefined }))
  .map(([properties, additionalProperties]) => ({
    type: "object",
    properties: { ...properties, node: { $ref: "#/$defs/Node" } },
    ...(additionalProperties === false && { additionalProperties }),
    $defs: { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } } },
  }));
const hints = fc.record(
  { readOnlyHint: fc.boolean(), idempotentHint: fc.boolean(), title: text },
  { requiredKeys: [] },
);
const definition = fc.record(
  {
    name: text,
    title: text,
    description: text,
    inputSchema: schema,
    outputSchema: schema,
    annotations: hints,
  },
  { requiredKeys: ["name", "inputSchema"] },
);

async function readBack(tools: readonly Tool[]) {
  const document = JSON.stringify(
    describeTools(
      tools.map((tool) => [tool.name, tool]),
      ABOUT,
    ),
  );
  const { pages, plans, leftOut } = compile(await readDocuments(URI, async () => document), {
    baseUrl: undefined,
    allow: undefined,
    deny: [],
    fixed: ["authorization"],
  });
  expect(leftOut).toEqual([]);
  const found = pages.flatMap((page) => JSON.parse(page) as Record<string, unknown>[]);
  return { found, plans: new Map(plans.map(([name, plan]) => [name, JSON.parse(plan) as Plan])) };
}

test("the same tools", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(definition, { selector: ({ name }) => name, maxLength: 5 }),
      async (definitions) => {
        const tools = definitions.flatMap((one) => readTool("s", toRaw(one)) ?? []);
        const { found } = await readBack(tools);
        expect(found).toEqual(
          tools.map((tool) => {
            const { description = "", ...own } = fromRaw(tool.definition) as Record<string, unknown>;
            return { ...own, ...(tool.title !== undefined && { title: tool.title }), description };
          }),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test("the same arguments arrive", async () => {
  const tool = readTool(
    "s",
    toRaw({ name: "say", inputSchema: { type: "object", properties: { a: {} } } }),
  ) as Tool;
  const { plans } = await readBack([tool]);
  fc.assert(
    fc.property(fc.dictionary(text, fc.jsonValue()), (args) => {
      const { method, url, body } = requestOf(plans.get("say") as Plan, args, { query: [], cookies: [] });
      expect(`${method} ${url.href}`).toBe(`POST ${ABOUT.url}/say`);
      expect(JSON.parse(Buffer.concat(body?.bytes ?? []).toString() || "{}")).toEqual(
        JSON.parse(JSON.stringify(args)),
      );
    }),
  );
});

const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text: fc.string() }),
  fc.record({ type: fc.constant("image"), data: fc.base64String(), mimeType: fc.constant("image/png") }),
);

test("the same answers", () => {
  const plan: Plan = {
    method: "POST",
    base: ABOUT.url,
    path: "/say",
    parameters: [],
    accept: "",
    answer: "tool",
  };
  const asked = { plan, where: "POST say", uri: ABOUT.url, mask: (said: string) => said, now: 0 };
  const headers = { "content-type": "application/json" };
  const throughHttp = (result: Raw): unknown => {
    let response: { status: number; body: Buffer };
    try {
      response = { status: 200, body: plainResult(result) };
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      response = { status: problem.status, body: Buffer.from(JSON.stringify(problem)) };
    }
    return fromRaw(readAnswer({ ...response, reason: "", headers }, asked) as Raw);
  };
  fc.assert(
    fc.property(
      fc.array(block),
      fc.option(fc.dictionary(text, fc.jsonValue(), { minKeys: 1 })),
      fc.boolean(),
      (content, structured, isError) => {
        const structuredContent =
          structured && (JSON.parse(JSON.stringify({ ...structured, own: 1 })) as object);
        const result = {
          content,
          ...(structuredContent && { structuredContent }),
          ...(isError && { isError }),
        };
        const answer = throughHttp(toRaw(result));
        if (isError || !structuredContent) expect(answer).toEqual(result);
        // Over plain HTTP a structured result has no other content; the text is the same value.
        else
          expect(answer).toEqual({
            structuredContent,
            content: [{ type: "text", text: JSON.stringify(structuredContent) }],
          });
      },
    ),
  );
});
