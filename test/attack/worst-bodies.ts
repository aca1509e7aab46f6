/** Bodies that cost a parser, a check or a search as much as a body of their length can. */

/** One JSON value of about so many bytes. */
type Shape = (bytes: number) => string;

const list = (element: string): Shape => {
  return (bytes) => `[${`${element},`.repeat(bytes / (element.length + 1))}${element}]`;
};
const keys = (keyOf: (n: number) => string): Shape => {
  return (bytes) => {
    const count = Math.floor(bytes / (keyOf(100_000).length + 5));
    return `{${Array.from({ length: count }, (_, n) => `"${keyOf(n)}":1`).join(",")}}`;
  };
};
const text = (part: string): Shape => {
  return (bytes) => `"${part.repeat(bytes / Buffer.byteLength(part))}"`;
};

/** Texts first: they fit where only a text is allowed. */
const TEXTS: Readonly<Record<string, Shape>> = {
  "one letter": text("x"),
  words: text("make a payment to the bank "),
  "different words": (bytes) => `"${Array.from({ length: bytes / 7 }, (_, n) => n.toString(36)).join(" ")}"`,
  "escaped quotes": text('\\"'),
  "escaped letters": text("\\u0041"),
  backslashes: text("\\\\"),
  "wide letters": text("ü"),
  "pairs of surrogates": text("\u{1f600}"),
  addresses: text("ada@example.org "),
  "almost addresses": text("a@"),
  digits: text("1"),
  cards: text("4111 1111 1111 1112 "),
  secrets: text("sk-abcdefgh12345678 "),
  "almost secrets": text("token="),
  base64: text("QUJD"),
  paths: text("../"),
  "invisible letters": text("\u202e"),
};

export const VALUES: Readonly<Record<string, Shape>> = {
  ...TEXTS,
  "empty objects": list("{}"),
  "empty lists": list("[]"),
  numbers: list("1"),
  "long numbers": list("1.23456789012345e200"),
  texts: list('"a"'),
  "texts with escapes": list('"\\n"'),
  "small objects": list('{"a":1}'),
  keys: keys((n) => n.toString(36)),
  "long keys": keys((n) => `${n}`.padStart(100, "k")),
  "equal keys": keys(() => "a"),
  "numbers as keys": keys((n) => String(n * 7)),
  nested: (bytes) => list(`${"[".repeat(60)}${"]".repeat(60)}`)(bytes),
  "nested objects": (bytes) => list(`${'{"a":'.repeat(30)}1${"}".repeat(30)}`)(bytes),
  spaces: (bytes) => `[1${" ".repeat(bytes)}]`,
  "line breaks": (bytes) => `[1${"\n".repeat(bytes)}]`,
  "few values": (bytes) => list(`"${"x".repeat(bytes / 15_000)}"`)(bytes),
  "few keys": (bytes) =>
    `{${Array.from({ length: 4_900 }, (_, n) => `"k${n}":"${"x".repeat(bytes / 5_000)}"`).join(",")}}`,
};

export interface Place {
  /** The message with the value at this place. */
  write(value: string): string;
  /** Where the place means something. */
  readonly surfaces: readonly string[];
  /** How many of the values fit into a message. */
  readonly parts?: number;
}

const place = (write: Place["write"], ...surfaces: string[]): Place => ({
  write,
  surfaces: surfaces.length > 0 ? surfaces : ["aggregate"],
});
const call = (tool: string, args: (value: string) => string, ...surfaces: string[]): Place =>
  place((value) => request("tools/call", `{"name":"${tool}","arguments":${args(value)}}`), ...surfaces);
const at = (method: string, params: (value: string) => string): Place =>
  place((value) => request(method, params(value)));

function request(method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
}

const INITIALIZE = {
  protocolVersion: '"2025-11-25"',
  capabilities: "{}",
  clientInfo: '{"name":"a","version":"1"}',
};
const initialize = (key: string): Place =>
  at("initialize", (value) => {
    const members = Object.entries({ ...INITIALIZE, [key]: value });
    return `{${members.map(([name, one]) => `"${name}":${one}`).join()}}`;
  });

/** A value that is no text cannot be a name: it becomes one. */
const nameOf = (value: string): string => (value.startsWith('"') ? value : '"x"');

/** Every place of a message where a client may write what it likes. */
export const MESSAGES: Readonly<Record<string, Place>> = {
  "whole body": place((value) => value),
  "open body": place((value) => value.slice(0, -1)),
  "open message": place((value) => request("tools/call", `{"name":"x","arguments":${value}`)),
  "open first member": place((value) => `{"params":${value},"id":1,`),
  "another member": place((value) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","more":${value}}`),
  id: place((value) => `{"jsonrpc":"2.0","id":${value},"method":"ping"}`),
  method: place((value) => `{"jsonrpc":"2.0","id":1,"method":${value}}`),
  "arguments in a batch": {
    ...place(
      (value) =>
        `[${Array(100)
          .fill(call("fix__args", () => value).write(""))
          .join()}]`,
    ),
    parts: 101,
  },
  params: at("tools/call", (value) => value),
  _meta: at("tools/call", (value) => `{"_meta":${value},"name":"fix__echo","arguments":{"message":"a"}}`),
  progressToken: at("tools/call", (value) => `{"_meta":{"progressToken":${value}},"name":"fix__args"}`),
  "_meta of a list": at("tools/list", (value) => `{"_meta":${value}}`),
  cursor: at("tools/list", (value) => `{"cursor":${value}}`),
  name: place(
    (value) => request("tools/call", `{"name":${value},"arguments":{}}`),
    "aggregate",
    "meta",
    "metatools",
  ),
  "arguments of echo": call("fix__echo", (value) => value),
  "arguments of args": call("fix__args", (value) => value),
  "message of echo": call("fix__echo", (value) => `{"message":${value}}`),
  "message of args": call("fix__args", (value) => `{"message":${value}}`),
  "task of a call": at("tools/call", (value) => `{"name":"fix__args","arguments":{},"task":${value}}`),
  prompt: at("prompts/get", (value) => `{"name":${value}}`),
  "arguments of a prompt": at("prompts/get", (value) => `{"name":"fix__prompt_0","arguments":${value}}`),
  uri: at("resources/read", (value) => `{"uri":${value}}`),
  "uri of a subscription": at("resources/subscribe", (value) => `{"uri":${value}}`),
  "ref of a completion": at("completion/complete", (value) => `{"ref":${value},"argument":{}}`),
  "name in a ref": at("completion/complete", (value) => `{"ref":{"name":${value}},"argument":{}}`),
  "argument of a completion": at(
    "completion/complete",
    (value) =>
      `{"ref":{"type":"ref/prompt","name":"fix__prompt_0"},"argument":{"name":"a","value":${value}}}`,
  ),
  "another method": at("custom/exec", (value) => value),
  level: at("logging/setLevel", (value) => `{"level":${value}}`),
  taskId: at("tasks/get", (value) => `{"taskId":${value}}`),
  "cursor of tasks": at("tasks/list", (value) => `{"cursor":${value}}`),
  capabilities: initialize("capabilities"),
  clientInfo: initialize("clientInfo"),
  protocolVersion: initialize("protocolVersion"),
  "a notification": place((value) => `{"jsonrpc":"2.0","method":"notifications/x","params":${value}}`),
  "what is cancelled": place(
    (value) => `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${value}}}`,
  ),
  progress: place(
    (value) => `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${value}}}`,
  ),
  "a result": place((value) => `{"jsonrpc":"2.0","id":1,"result":${value}}`),
  "an error": place((value) => `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a","data":${value}}}`),

  server: call("mcp_call", (value) => `{"server":${value},"tool":"echo","args":{}}`, "meta"),
  tool: call("mcp_call", (value) => `{"server":"fix","tool":${value},"args":{}}`, "meta"),
  "args of mcp_call": call("mcp_call", (value) => `{"server":"fix","tool":"args","args":${value}}`, "meta"),
  "message of mcp_call": call(
    "mcp_call",
    (value) => `{"server":"fix","tool":"echo","args":{"message":${value}}}`,
    "meta",
  ),
  "more of mcp_call": call("mcp_call", (value) => `{"server":"fix","tool":"args","more":${value}}`, "meta"),
  "key of mcp_call": call("mcp_call", (value) => `{${nameOf(value)}:1}`, "meta"),
  "query of mcp_discover": call("mcp_discover", (value) => `{"query":${value}}`, "meta"),
  "server of mcp_discover": call("mcp_discover", (value) => `{"server":${value}}`, "meta"),
  "limit of mcp_discover": call("mcp_discover", (value) => `{"limit":${value}}`, "meta"),
  "code of mcp_execute": call("mcp_execute", (value) => `{"code":${value}}`, "meta"),
  "uri to read": call(
    "mcp_call",
    (value) => `{"server":"metamcp","tool":"read","args":{"uri":${value}}}`,
    "meta",
  ),
  "query of search_tools": call("search_tools", (value) => `{"query":${value}}`, "metatools"),
  "tool to describe": call(
    "describe_tool",
    (value) => `{"tool_id":${value},"detail_level":"full"}`,
    "metatools",
  ),
  "tool to run": call("run_tool", (value) => `{"tool_id":${value},"args":{}}`, "metatools"),
  "args of run_tool": call("run_tool", (value) => `{"tool_id":"fix:args","args":${value}}`, "metatools"),
  "message of run_tool": call(
    "run_tool",
    (value) => `{"tool_id":"fix:echo","args":{"message":${value}}}`,
    "metatools",
  ),
  "another tool to run": call(
    "run_tool",
    (value) => `{"tool_id":"fix:none","args":{${nameOf(value)}:1}}`,
    "metatools",
  ),
  "tool of a step": call("run_chain", (value) => `{"steps":[{"tool_id":${value},"args":{}}]}`, "metatools"),
  "steps of a chain": call("run_chain", (value) => `{"steps":${value}}`, "metatools"),
  "args of a step": call(
    "run_chain",
    (value) => `{"steps":[{"tool_id":"fix:args","args":${value}}]}`,
    "metatools",
  ),
  "args of a checked step": call(
    "run_chain",
    (value) => `{"dry_run":true,"steps":[{"tool_id":"fix:args","args":${value}}]}`,
    "metatools",
  ),
  "code of execute_code": call(
    "execute_code",
    (value) => `{"language":"javascript","code":${value}}`,
    "metatools",
  ),
};

const MEGABYTE = 1024 * 1024 - 300;
const times = (count: number, element: string): string => `[${Array(count).fill(element).join()}]`;

/** The most that the admin API reads. */
export const SMALL_VALUES: Readonly<Record<string, string>> = {
  "too many values": VALUES["numbers"]?.(MEGABYTE) ?? "",
  "many values": times(19_900, "1"),
  "many objects": times(9_900, '{"a":1}'),
  "many texts": times(19_900, `"${"x".repeat(45)}"`),
  "many keys": keys((n) => `key${n}`)(58_000),
  "nested lists": times(330, `${"[".repeat(59)}${"]".repeat(59)}`),
  "one letter": VALUES["one letter"]?.(MEGABYTE) ?? "",
  "escaped quotes": VALUES["escaped quotes"]?.(MEGABYTE) ?? "",
  "wide letters": VALUES["wide letters"]?.(MEGABYTE) ?? "",
};

const YAML = "application/yaml";
const JSON_TYPE = "application/json";
/** A thread reads these, for seconds if they have the size that is allowed. An eighth of it shows too where. */
const PART = process.env["METAMCP_TURNS"] === "all" ? 1 : 8;
const YAML_BYTES = (4 * 1024 * 1024) / PART - 100;
const many = (count: number, entry: (n: number) => unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`o${n}`, entry(n)]));
const server = (n: number) => ({ command: "x", args: [`${n}`], disabled: true });
const document = (sections: object) => (): string =>
  JSON.stringify({ document: { version: 1, ...sections } });

/** Whole configs. */
export const DOCUMENTS: Readonly<Record<string, { readonly type: string; body(): string }>> = {
  "1,980 objects": {
    type: JSON_TYPE,
    body: document({
      servers: many(660, server),
      namespaces: many(660, (n) => ({ servers: { [`o${n}`]: {} } })),
      endpoints: many(660, (n) => ({ namespaces: [`o${n}`] })),
    }),
  },
  "10,000 servers": { type: JSON_TYPE, body: document({ servers: many(10_000, server) }) },
  "a namespace of 5,000 servers": {
    type: JSON_TYPE,
    body: document({
      servers: many(5_000, server),
      namespaces: { all: { servers: many(5_000, () => ({})) } },
      endpoints: { all: { namespaces: ["all"] } },
    }),
  },
  "5,000 tools in a namespace": {
    type: JSON_TYPE,
    body: document({
      servers: many(1, server),
      namespaces: {
        all: {
          servers: { o0: {} },
          tools: Object.fromEntries(Array.from({ length: 4_900 }, (_, n) => [`o0:t${n}`, { name: `u${n}` }])),
        },
      },
    }),
  },
  "wrong objects": {
    type: JSON_TYPE,
    body: document({ servers: many(10_000, () => ({ args: 1, wrong: 2 })) }),
  },
  "1,000 rules": {
    type: JSON_TYPE,
    body: document({
      endpoints: {
        one: {
          middleware: [{ use: "policy", rules: Array(1_000).fill({ effect: "deny", tools: ["*a*b*c*"] }) }],
        },
      },
    }),
  },
  "many values": {
    type: JSON_TYPE,
    body: () =>
      `{"document":{"version":1,"servers":${VALUES["small objects"]?.((31 * 1024 * 1024) / PART)}}}`,
  },
  "YAML with many keys": {
    type: YAML,
    body: () =>
      Array.from({ length: 200_000 }, (_, n) => `key${n}: 1`)
        .join("\n")
        .slice(0, YAML_BYTES),
  },
  "YAML with many items": { type: YAML, body: () => "- a\n".repeat(YAML_BYTES / 4) },
  "YAML with many comments": { type: YAML, body: () => "# a\n".repeat(YAML_BYTES / 4) },
  "YAML with escapes": { type: YAML, body: () => `a: "${"\\x41".repeat(YAML_BYTES / 4 - 4)}"` },
  "YAML with aliases": { type: YAML, body: () => `a: &a [1]\nb: [${"*a,".repeat(100_000)}*a]` },
  "YAML with anchors": {
    type: YAML,
    body: () =>
      Array.from(
        { length: 9 },
        (_, n) =>
          `k${n}: &k${n} [${
            n
              ? Array(9)
                  .fill(`*k${n - 1}`)
                  .join()
              : "1"
          }]`,
      ).join("\n"),
  },
};
