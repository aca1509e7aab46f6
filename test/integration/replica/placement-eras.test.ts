/** A server of the stateless era with placement "one", through the replica that does not run it. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { placedTeam } from "../../support/placed-team.ts";
import { RawSession } from "../../support/replica-team.ts";
import { onPostgres, request2026 } from "../../support/replicas.ts";
import { shared } from "../../support/shared.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { ROOT } from "../../support/temp.ts";

onPostgres("a server of 2026-07-28 that may run only once", () => {
  const args = [join(ROOT, "test/fixture/era-2026-child.mjs")];
  const team = shared(() => placedTeam(2, { entry: { args } }));

  test("is called by clients of both eras, and asks them, through another replica", async () => {
    const { replicas, key } = team();
    const [one, two] = replicas as [TeamProcess, TeamProcess];
    const capabilities = { elicitation: {} };
    const first = await new RawSession(key).open(one, capabilities);
    expect(await first.call(one, "once__echo", { message: "here" })).toContain("here");

    const session = await new RawSession(key).open(two, capabilities);
    expect(await session.call(two, "once__echo", { message: "there" })).toContain("there");
    const call = await session.stream(two, "tools/call", { name: "once__ask", arguments: {} });
    const question = await call.next("elicitation/create");
    await session.post(two, { id: question.id, result: { action: "accept", content: { name: "Ada" } } });
    expect((await call.next()).result.isError).not.toBe(true);

    const params = { name: "once__echo", arguments: { message: "stateless" } };
    const { result } = await request2026(two, "team", key, "tools/call", params);
    expect(JSON.stringify(result)).toContain("stateless");
  });
});
