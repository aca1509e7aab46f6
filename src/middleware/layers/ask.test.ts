import { expect, test } from "vitest";
import type { Uplink } from "../../kernel/call.ts";
import { callOf, raw, type TestCall, testPipeline } from "../layer.fixture.ts";

interface Asked {
  readonly answer?: string | Error;
  readonly capabilities?: string;
}

async function asked(
  options: object,
  wanted: TestCall,
  { answer = "accept", capabilities = '{"elicitation":{}}' }: Asked = {},
) {
  const questions: string[] = [];
  const names: (string | undefined)[] = [];
  const { outcome, seen } = await testPipeline([{ use: "ask", ...options }]);
  const call = callOf(wanted);
  const uplink: Uplink = {
    notify: () => {},
    request: async (_method, params, _signal, more) => {
      questions.push(String(params));
      names.push(more?.name);
      if (answer instanceof Error) throw answer;
      return raw(`{"action":"${answer}"}`);
    },
  };
  const text = await outcome({
    ...call,
    uplink,
    origin: { ...call.origin, capabilities: raw(capabilities) },
  });
  return { text: text.startsWith("{") ? "passed" : text, questions, names, made: seen.length };
}

test.each<[object, TestCall, number]>([
  [{ tools: ["*:drop*"] }, { tool: "one:drop_table" }, 1],
  [{ tools: ["*:drop*"] }, { tool: "one:echo" }, 0],
  [{ destructive: true }, { annotations: { destructiveHint: true } }, 1],
  [{ destructive: true }, { annotations: { destructiveHint: true, readOnlyHint: true } }, 1],
  [{ destructive: true }, { annotations: {} }, 0],
  [{ destructive: false }, { annotations: { destructiveHint: true } }, 0],
  [{ tools: ["*"] }, { tool: "one:", more: { method: "resources/read" } }, 0],
  [{ tools: ["x"] }, { more: { facts: undefined } }, 1],
])("with %j the number of questions about %j is %d", async (options, wanted, count) => {
  const { text, questions, made } = await asked(options, wanted);
  expect([text, questions.length, made]).toEqual(["passed", count, 1]);
});

test.each([
  ["decline", '{"elicitation":{}}'],
  ["cancel", '{"elicitation":{}}'],
  [new Error("gone"), '{"elicitation":{}}'],
  ["accept", "{}"],
  ["accept", '{"elicitation":{"url":{}}}'],
])(
  "the answer %s of a client with the capabilities %s does not permit the call",
  async (answer, capabilities) => {
    const { text, made } = await asked({ tools: ["*"] }, {}, { answer, capabilities });
    expect([text, made]).toEqual(["forbidden", 0]);
  },
);

test("the question names server, tool and arguments", async () => {
  const { questions } = await asked({ tools: ["*"] }, { tool: "db:drop", args: { table: "users" } });
  expect(questions[0]).toContain('Allow db to run drop with {\\"table\\":\\"users\\"}?');
});

test("each long value of the arguments is shortened, and nothing else can be hidden", async () => {
  const args = {
    note: "n".repeat(3_000),
    path: "/everything",
    command: "rm -rf /; Bearer aaaaaaaa",
    name: "a\u202Eb",
  };
  const { questions } = await asked({ tools: ["*"] }, { args });
  const { message } = JSON.parse(questions[0] ?? "") as { message: string };
  expect(message).toMatch(/"note":"n+ … \d+ characters left out … n+"/);
  expect(message).toContain('"path":"/everything"');
  expect(message).toContain("rm -rf /; Bearer [secret, 8 characters hidden]");
  expect(message).toContain("a\\\\u{202e}b");
  expect(message.length).toBeLessThan(3_000);
});

test("nobody is asked about arguments with a repeated name", async () => {
  const { text, questions } = await asked({ tools: ["*"] }, { written: '{"path": "/", "path": "/tmp"}' });
  expect([text, questions]).toEqual(["forbidden", []]);
});

test("questions about long arguments have different names even if the shown text is the same", async () => {
  const ask = (end: string) =>
    asked({ tools: ["*"] }, { args: { text: `${"x".repeat(5_000)}${end}${"x".repeat(5_000)}` } });
  const [one, same, other] = [await ask("one"), await ask("one"), await ask("two")];
  expect(one.questions).toEqual(other.questions);
  expect(one.names).toEqual(same.names);
  expect(one.names).not.toEqual(other.names);
});
