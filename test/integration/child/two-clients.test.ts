/**
 * Two clients share one child and make a thousand concurrent calls with the same ids. No message of one
 * reaches the other.
 */
import { expect, test } from "vitest";
import { HttpClient, type ReceivedMessage, type StreamContent } from "../../support/http-client.ts";
import { httpGateway } from "../../support/http-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";

const CALLS = 500;
const AT_ONCE = 24;

type Kind = "echo" | "progress" | "ask" | "cancel";
const KINDS: readonly Kind[] = ["echo", "progress", "echo", "ask", "cancel"];

const textOf = (answer: ReceivedMessage | undefined): string =>
  (answer?.result?.["content"] as { text?: string }[] | undefined)?.[0]?.text ?? "";

/** A client whose name is part of every message, so that each received message shows its owner. */
class NamedClient {
  readonly name: string;
  readonly client: HttpClient;
  readonly outcomes: Record<string, number> = {};
  /** Messages that were meant for the other client. */
  readonly foreign: unknown[] = [];

  constructor(name: string, client: HttpClient) {
    this.name = name;
    this.client = client;
    client.reply = ({ params }) => {
      const message = String(params?.["message"]);
      if (!message.startsWith(`${name} `)) this.foreign.push(message);
      return { result: { action: "accept", content: { name: `${name} says so to ${message}` } } };
    };
  }

  async run(): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < CALLS) {
        const id = next++;
        await this.#one(id, KINDS[id % KINDS.length] as Kind);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async #one(id: number, kind: Kind): Promise<void> {
    const mark = `${this.name} ${id}`;
    const token = `token ${id}`;
    const call = (tool: string, args: object, sending = {}): Promise<StreamContent> =>
      this.client.mcpCall(id, ["a", tool], args, { _meta: { progressToken: token }, sending });
    if (kind === "echo") this.#count(kind, textOf((await call("echo", { message: mark })).answer) === mark);
    else if (kind === "progress")
      this.#checkProgress(token, await call("progress", { n: 1 + (id % 3) }), 1 + (id % 3));
    else if (kind === "ask") this.#checkAnswer(mark, (await call("ask", { message: mark })).answer);
    else {
      const onRequest = (): void => void this.client.notify("notifications/cancelled", { requestId: id });
      const { answer } = await call("sleep", { ms: 20 }, { onRequest });
      // The call may be answered before it is cancelled.
      this.#count(answer ? "late cancel" : "cancel", !answer || answer.id === id);
    }
  }

  #checkProgress(token: string, { before, answer }: StreamContent, count: number): void {
    // Questions of other calls of this client may come on the same stream.
    const steps = before
      .filter(({ method }) => method === "notifications/progress")
      .map(({ params }) => [params?.["progressToken"], params?.["progress"]]);
    const expected = Array.from({ length: count }, (_, i) => [token, i + 1]);
    this.#count(
      "progress",
      JSON.stringify(steps) === JSON.stringify(expected) && textOf(answer) === `reported ${count}`,
    );
  }

  #checkAnswer(mark: string, answer: ReceivedMessage | undefined): void {
    const { answer: given, error } = (answer?.result?.["structuredContent"] ?? {}) as {
      answer?: { content: { name: string } };
      error?: unknown;
    };
    if (error) this.#count("refused", true);
    else this.#count("answered", given?.content.name === `${this.name} says so to ${mark}`);
  }

  #count(kind: string, right: boolean): void {
    const key = right ? kind : `wrong ${kind}`;
    this.outcomes[key] = (this.outcomes[key] ?? 0) + 1;
  }
}

async function twoClients(isolation: string): Promise<NamedClient[]> {
  const folder = temp();
  folder.writeConfig({ a: { ...fixture(), isolation } });
  const gateway = await httpGateway(folder);
  const both = ["ada", "bob"].map(
    async (name) => new NamedClient(name, await HttpClient.open(gateway, { elicitation: {} })),
  );
  return await Promise.all(both);
}

const wrong = ({ outcomes }: NamedClient): string[] =>
  Object.keys(outcomes).filter((kind) => kind.startsWith("wrong"));

test("clients that share a child are not asked if the question could belong to either, and all else is exact", {
  timeout: 120_000,
}, async () => {
  const all = await twoClients("shared");
  await Promise.all(all.map((party) => party.run()));
  for (const party of all) {
    expect(wrong(party)).toEqual([]);
    expect(party.foreign).toEqual([]);
    expect(party.outcomes).toMatchObject({ echo: 200, progress: 100 });
  }
  // Both clients were busy all the time, so most questions could not be attributed.
  expect(all.reduce((sum, { outcomes }) => sum + (outcomes["refused"] ?? 0), 0)).toBeGreaterThan(100);
});

test("clients with their own connections answer exactly their own questions", {
  timeout: 120_000,
}, async () => {
  const all = await twoClients("session");
  await Promise.all(all.map((party) => party.run()));
  for (const party of all) {
    expect(wrong(party)).toEqual([]);
    expect(party.foreign).toEqual([]);
    expect(party.outcomes).toMatchObject({ echo: 200, progress: 100, answered: 100 });
    expect(party.client.serverRequests).toHaveLength(100);
  }
});

/**
 * Its tool `later` is never answered. It asks when `ask` is called, whose result is the answer to the
 * question.
 */
const LATE_CHILD = `
import { createInterface } from "node:readline";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const schema = { type: "object", properties: {} };
const tools = ["later", "plain", "ask"].map((name) => ({ name, inputSchema: schema }));
const answers = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "late", version: "1" } },
  "tools/list": { tools },
};
let calling;
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (answers[method]) send({ id, result: answers[method] });
  else if (method === undefined) send({ id: calling, result: { content: [{ type: "text", text: JSON.stringify(result ?? error) }] } });
  else if (params?.name === "plain") send({ id, result: { content: [] } });
  else if (params?.name === "ask") {
    calling = id;
    send({ id: "q", method: "elicitation/create", params: { message: "for ada", requestedSchema: schema } });
  }
});
`;

test("a question of a cancelled call does not reach another client", async () => {
  const folder = temp();
  const script = folder.write("late.mjs", LATE_CHILD);
  folder.writeConfig({ a: { command: process.execPath, args: [script] } });
  const gateway = await httpGateway(folder);
  const [ada, bob] = await Promise.all([1, 2].map(() => HttpClient.open(gateway, { elicitation: {} })));
  const cancelled = ada?.mcpCall(1, ["a", "later"]);
  // This call was sent later and is answered, so the child has received both.
  await ada?.mcpCall(2, ["a", "plain"]);
  await ada?.notify("notifications/cancelled", { requestId: 1 });
  await cancelled;
  const { answer } = (await bob?.mcpCall(1, ["a", "ask"])) as StreamContent;
  expect(bob?.serverRequests).toEqual([]);
  expect(textOf(answer)).toContain("the client is not known");
  await gateway.stop();
});
