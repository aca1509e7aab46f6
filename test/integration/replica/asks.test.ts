/** Replicas ask each other over the internal listener. */
import { randomBytes } from "node:crypto";
import type { RequestListener } from "node:http";
import { expect, test } from "vitest";
import { ASK, type AskError, Asks } from "../../../src/replica/ask.ts";
import { ChannelAgent } from "../../../src/replica/channel.ts";
import { ReplicaListener } from "../../../src/replica/listener.ts";
import type { ReplicaRow } from "../../../src/store/replicas.ts";
import { atEnd } from "../../support/shared.ts";

const ROW = {
  publicUrl: undefined,
  version: "0",
  state: "serving",
  sinceMs: 0,
  silentMs: 0,
  about: {},
} as const;

/** Replicas with these ids, each with its own listener, that know each other. */
async function asking(...ids: string[]): Promise<readonly Asks[]> {
  const key = randomBytes(32);
  const rows = new Map<string, ReplicaRow>();
  return await Promise.all(
    ids.map(async (id) => {
      const members = {
        self: id,
        get all() {
          return [...rows.values()];
        },
        of: (other: string) => rows.get(other),
      };
      const agent = new ChannelAgent(key, id);
      const asks = new Asks({ agent, members });
      const take: RequestListener = (request, response) => void asks.take(request, response);
      const serve: RequestListener = (_, response) => response.writeHead(500).end("the public listener");
      const listener = new ReplicaListener({ key, self: id, serve, routes: new Map([[ASK, take]]) });
      rows.set(id, { ...ROW, id, address: await listener.listen({ host: "127.0.0.1", port: 0 }) });
      atEnd(async () => {
        agent.destroy();
        await listener.close();
      });
      return asks;
    }),
  );
}

const failureOf = async (asked: Promise<unknown>): Promise<AskError> =>
  await asked.then(
    () => expect.unreachable(),
    (error: AskError) => error,
  );

test("a question gets its answer, who does not know it says so, and a failure brings its text", async () => {
  const [one, two] = (await asking("one", "two")) as [Asks, Asks];
  two.answer("double", (body, from) => ({ from, twice: (body as { n: number }).n * 2 }));
  two.answer("nothing", () => undefined);
  two.answer("fail", () => Promise.reject(new Error("no such server")));
  expect(await one.ask("two", "double", { n: 21 })).toEqual({ from: "one", twice: 42 });
  expect(await one.ask("two", "nothing")).toBeNull();
  expect(await failureOf(one.ask("two", "newer"))).toMatchObject({ reason: "unknown" });
  expect(await failureOf(one.ask("two", "fail"))).toMatchObject({
    reason: "failed",
    message: "no such server",
  });
  expect(await failureOf(one.ask("three", "double"))).toMatchObject({ reason: "unreachable" });
});

test("all others are asked at once, and those that do not answer are named", async () => {
  const [one, two, three] = (await asking("one", "two", "three", "four")) as [Asks, Asks, Asks];
  const never = new Promise(() => {});
  one.answer("who", () => expect.unreachable());
  two.answer("who", () => "two");
  three.answer("who", () => never);
  const { answers, silent } = await one.askAll("who");
  expect(answers).toEqual([{ replica: "two", value: "two" }]);
  // The third does not answer in time, the fourth does not know the question.
  expect([...silent].sort()).toEqual(["four", "three"]);
});
