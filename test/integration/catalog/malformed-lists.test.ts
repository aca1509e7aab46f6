/**
 * Entries of a server's lists that do not follow the protocol hide nothing: neither other entries nor other
 * servers.
 */
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { gateway } from "../../support/gateway.ts";
import { VERBATIM } from "../../support/metatools.ts";
import { connect, SDKS } from "../../support/sdk-clients.ts";
import { type Temp, temp } from "../../support/temp.ts";

const inputSchema = { type: "object" };
const TOOLS: Record<string, object> = {
  "no-type": { inputSchema: { properties: { a: { type: "string" } } } },
  "no-schema": {},
  "null-schema": { inputSchema: null },
  "list-schema": { inputSchema: [] },
  "type-null": { inputSchema: { type: null } },
  "type-list": { inputSchema: { type: ["object", "null"] } },
  "properties-list": { inputSchema: { type: "object", properties: [] } },
  "property-null": { inputSchema: { type: "object", properties: { a: null, b: "string" } } },
  "property-true": { inputSchema: { type: "object", properties: { a: true, b: false } } },
  "required-null": { inputSchema: { type: "object", required: null } },
  "required-text": { inputSchema: { type: "object", required: "a" } },
  "required-numbers": { inputSchema: { type: "object", required: ["a", 1] } },
  "description-null": { inputSchema, description: null },
  "description-number": { inputSchema, description: 5 },
  "title-null": { inputSchema, title: null },
  "annotations-null": { inputSchema, annotations: null },
  "annotations-list": { inputSchema, annotations: [] },
  "hint-text": { inputSchema, annotations: { readOnlyHint: "yes", title: null, destructiveHint: false } },
  "output-null": { inputSchema, outputSchema: null },
  "output-no-type": { inputSchema, outputSchema: { properties: { a: {} } } },
  "output-list": { inputSchema, outputSchema: { type: "array", items: {} } },
  "output-properties-list": { inputSchema, outputSchema: { type: "object", properties: [] } },
  "execution-null": { inputSchema, execution: null },
  "execution-odd": { inputSchema, execution: { taskSupport: true } },
  "icons-null": { inputSchema, icons: null },
  "icons-odd": { inputSchema, icons: [null, {}, { src: "x:y", sizes: "any", theme: "blue" }] },
  "meta-null": { inputSchema, _meta: null },
  "meta-list": { inputSchema, _meta: [] },
};
const PROMPTS: Record<string, object> = {
  "description-null": { description: null },
  "title-number": { title: 1 },
  "arguments-null": { arguments: null },
  "arguments-object": { arguments: { a: {} } },
  "argument-odd": { arguments: [null, {}, { name: "a", required: "yes", description: null }] },
  "icons-null": { icons: null },
  "meta-null": { _meta: null },
};
const RESOURCES: Record<string, object> = {
  "no-name": { name: undefined },
  "name-null": { name: null },
  "description-null": { description: null },
  "mime-null": { mimeType: null },
  "annotations-null": { annotations: null },
  "annotations-odd": { annotations: { audience: ["all", "user"], priority: 7, lastModified: "yesterday" } },
  "annotation-date": {
    annotations: { audience: "user", priority: "high", lastModified: "2025-02-30T00:00:00Z" },
  },
  "icons-null": { icons: null },
  "meta-null": { _meta: null },
};
/** Not repaired, because nobody knows what is meant. */
const UNUSABLE = [
  null,
  1,
  "x",
  [],
  { inputSchema },
  { name: 7 },
  { name: "text-only", inputSchema: { type: "string" } },
];

const named = (entries: Record<string, object>, more: (name: string) => object): object[] =>
  Object.entries(entries).map(([name, entry]) => ({ ...more(name), ...entry }));

function writeServers(folder: Temp): void {
  const tools = [...UNUSABLE, ...named(TOOLS, (name) => ({ name }))];
  const answers = {
    "prompts/list": { prompts: [null, {}, ...named(PROMPTS, (name) => ({ name }))] },
    "resources/list": {
      resources: [
        null,
        { name: "no uri" },
        ...named(RESOURCES, (name) => ({ name, uri: `x://${name}` })),
        { name: "size", uri: "x://size", size: "big" },
      ],
    },
    "resources/templates/list": {
      resourceTemplates: [{}, ...named(RESOURCES, (name) => ({ name, uriTemplate: `x://${name}/{id}` }))],
    },
    "prompts/get": {
      description: null,
      _meta: null,
      messages: [{ role: "user", content: { type: "text", text: "hi", annotations: null, _meta: null } }],
    },
    "resources/read": {
      _meta: null,
      contents: [{ uri: "x://mime-null", text: "here", mimeType: null, _meta: null }],
    },
  };
  const good = { prompts: [{ name: "p" }] };
  const file = (name: string, content: unknown): string => folder.write(name, JSON.stringify(content));
  folder.writeConfig({
    bad: { command: "node", args: [VERBATIM, file("tools.json", tools), file("answers.json", answers)] },
    good: {
      command: "node",
      args: [
        VERBATIM,
        file("none.json", []),
        file("good.json", {
          "prompts/list": good,
          "resources/list": { resources: [] },
          "resources/templates/list": { resourceTemplates: [] },
        }),
      ],
    },
  });
}

test.each(SDKS)("%s reads all lists, and what can be repaired is in them", async (sdk) => {
  const folder = temp();
  writeServers(folder);
  const client = await connect(sdk, "stdio", folder);
  const tools = await client.tools();
  expect(tools.sort()).toEqual(
    ["good__give", "bad__give", ...Object.keys(TOOLS).map((name) => `bad__${name}`)].sort(),
  );
  expect((await client.prompts()).sort()).toEqual(
    ["good__p", ...Object.keys(PROMPTS).map((name) => `bad__${name}`)].sort(),
  );
  const resources = await client.resources();
  expect(resources.map(({ uri }) => uri).sort()).toEqual(
    [...Object.keys(RESOURCES), "size"].map((name) => `x://${name}`).sort(),
  );
  expect(resources.find(({ uri }) => uri === "x://no-name")?.name).toBe("x://no-name");
  expect(await client.templates()).toHaveLength(Object.keys(RESOURCES).length);
  expect(await client.call("bad__no-schema", { a: 1 })).toMatchObject({
    structuredContent: { args: { a: 1 } },
  });
  expect(await client.prompt("bad__title-number")).toMatchObject([{ content: { text: "hi" } }]);
  expect(await client.read("x://mime-null")).toMatchObject([{ text: "here" }]);
});

test("entries without a fault keep their bytes; doctor and the log name the others", async () => {
  const folder = temp();
  writeServers(folder);
  const plain =
    '{ "name":"plain","x":12345678901234567890 , "inputSchema":{"type":"object"},"_meta":{"a":1.0} }';
  folder.write("none.json", `[${plain}]`);
  const client = gateway(folder, { flags: ["--surface", "aggregate"] });
  await client.initialize();
  const answer = (await client.request("tools/list")).raw.toString();
  expect(answer).toContain(plain.replace("plain", "good__plain"));
  expect(answer).toContain('"inputSchema":{"properties":{"a":{"type":"string"}},"type":"object"}');
  const log = client.stderr.replaceAll("\\", "");
  expect(log).toContain('"text-only" (inputSchema.type is "string") and 6 without a usable name');
  expect(log).toContain('"no-schema" (inputSchema is missing)');
  await client.close();

  const { out, code } = await metamcp(folder, ["doctor", "--config", folder.config]);
  expect(code).toBe(0);
  expect(out).toMatch(/! bad +29 tools/);
  expect(out).toMatch(/7 entries of its tools\/list cannot be used/);
  expect(out).toMatch(/25 entries of its tools\/list had faults/);
  for (const method of ["prompts/list", "resources/list", "resources/templates/list"])
    expect(out).toContain(`entries of its ${method} had faults`);
  expect(out).toMatch(/✓ good +2 tools/);
  expect(out).toContain("All servers run; some have faults in their lists");
});
