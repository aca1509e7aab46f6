/** Two clients on one child, a thousand calls at once under the same ids: nothing of one ever reaches the other. */
import { expect, test } from "vitest";
import { type Exchange, type Heard, HttpClient } from "../support/http-client.ts";
import { httpGateway } from "../support/http-gateway.ts";
import { fixture, temp } from "../support/temp.ts";

const CALLS = 500;
const AT_ONCE = 24;

type Kind = "echo" | "progress" | "ask" | "cancel";
const KINDS: readonly Kind[] = ["echo", "progress", "echo", "ask", "cancel"];

const textOf = (answer: Heard | undefined): string =>
  (answer?.result?.["content"] as { text?: string }[] | undefined)?.[0]?.text ?? "";

/** One client with a name that is in everything it says, so that what it hears tells whose it is. */
class Party {
  readonly name: string;
  readonly client: HttpClient;
  readonly outcomes: Record<string, number> = {};
  /** What came that was not for it. */
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
    const call = (tool: string, args: object, sending = {}): Promise<Exchange> =>
      this.client.mcpCall(id, ["a", tool], args, { _meta: { progressToken: token }, sending });
    if (kind === "echo") this.#note(kind, textOf((await call("echo", { message: mark })).answer) === mark);
    else if (kind === "progress")
      this.#progressed(token, await call("progress", { n: 1 + (id % 3) }), 1 + (id % 3));
    else if (kind === "ask") this.#asked(mark, (await call("ask", { message: mark })).answer);
    else {
      const onRequest = (): void => void this.client.notify("notifications/cancelled", { requestId: id });
      const { answer } = await call("sleep", { ms: 20 }, { onRequest });
      // It may have been answered before it was cancelled.
      this.#note(answer ? "late cancel" : "cancel", !answer || answer.id === id);
    }
  }

  #progressed(token: string, { before, answer }: Exchange, count: number): void {
    // Questions of other calls of this client may come on the same stream.
    const steps = before
      .filter(({ method }) => method === "notifications/progress")
      .map(({ params }) => [params?.["progressToken"], params?.["progress"]]);
    const expected = Array.from({ length: count }, (_, i) => [token, i + 1]);
    this.#note(
      "progress",
      JSON.stringify(steps) === JSON.stringify(expected) && textOf(answer) === `reported ${count}`,
    );
  }

  #asked(mark: string, answer: Heard | undefined): void {
    const { answer: given, error } = (answer?.result?.["structuredContent"] ?? {}) as {
      answer?: { content: { name: string } };
      error?: unknown;
    };
    if (error) this.#note("refused", true);
    else this.#note("answered", given?.content.name === `${this.name} says so to ${mark}`);
  }

  #note(kind: string, right: boolean): void {
    const key = right ? kind : `wrong ${kind}`;
    this.outcomes[key] = (this.outcomes[key] ?? 0) + 1;
  }
}

async function parties(isolation: string): Promise<Party[]> {
  const folder = temp();
  folder.writeConfig({ a: { ...fixture(), isolation } });
  const gateway = await httpGateway(folder);
  const both = ["ada", "bob"].map(
    async (name) => new Party(name, await HttpClient.open(gateway, { elicitation: {} })),
  );
  return await Promise.all(both);
}

const wrong = ({ outcomes }: Party): string[] =>
  Object.keys(outcomes).filter((kind) => kind.startsWith("wrong"));

test("sharing a child: who cannot be told apart is not asked, all else is exact", {
  timeout: 120_000,
}, async () => {
  const all = await parties("shared");
  await Promise.all(all.map((party) => party.run()));
  for (const party of all) {
    expect(wrong(party)).toEqual([]);
    expect(party.foreign).toEqual([]);
    expect(party.outcomes).toMatchObject({ echo: 200, progress: 100 });
  }
  // Both were busy all the time: most questions had no certain addressee.
  expect(all.reduce((sum, { outcomes }) => sum + (outcomes["refused"] ?? 0), 0)).toBeGreaterThan(100);
});

test("each with a connection of its own: every question is answered by whom it was meant for", {
  timeout: 120_000,
}, async () => {
  const all = await parties("session");
  await Promise.all(all.map((party) => party.run()));
  for (const party of all) {
    expect(wrong(party)).toEqual([]);
    expect(party.foreign).toEqual([]);
    expect(party.outcomes).toMatchObject({ echo: 200, progress: 100, answered: 100 });
    expect(party.client.asked).toHaveLength(100);
  }
});

/** Its `later` is never answered, and asks only when `ask` comes, which is told how that went. */
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

test("what a call that was given up leads to reaches nobody else", async () => {
  const folder = temp();
  const script = folder.write("late.mjs", LATE_CHILD);
  folder.writeConfig({ a: { command: process.execPath, args: [script] } });
  const gateway = await httpGateway(folder);
  const [ada, bob] = await Promise.all([1, 2].map(() => HttpClient.open(gateway, { elicitation: {} })));
  const given = ada?.mcpCall(1, ["a", "later"]);
  // Answered after it was sent: the child has both.
  await ada?.mcpCall(2, ["a", "plain"]);
  await ada?.notify("notifications/cancelled", { requestId: 1 });
  await given;
  const { answer } = (await bob?.mcpCall(1, ["a", "ask"])) as Exchange;
  expect(bob?.asked).toEqual([]);
  expect(textOf(answer)).toContain("the client is not known");
  await gateway.stop();
});
