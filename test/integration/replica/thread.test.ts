/** A client of three replicas notices neither which of them it reaches nor the death of one. */
import { expect, test } from "vitest";
import { RawSession, type Route, replicas, routedClient } from "../../support/replica-team.ts";
import { onPostgres } from "../../support/replicas.ts";
import type { TeamProcess } from "../../support/team-process.ts";

onPostgres("replicas", () => {
  test.each(["SDK v1", "SDK v2"] as const)(
    "%s: begun at one, called at the next, taken up by the third",
    async (sdk) => {
      const team = await replicas(3);
      const [one, two, three] = team.replicas as [TeamProcess, TeamProcess, TeamProcess];
      const route: Route = { at: one };
      // All replicas know the endpoint and the key.
      for (const at of team.replicas) await new RawSession(team.key).open(at);
      const client = await routedClient(sdk, route, team.key);
      expect(await client.call("fix__echo", { message: "at its owner" })).toContain("at its owner");
      route.at = two;
      expect(await client.call("fix__echo", { message: "forwarded" })).toContain("forwarded");
      await one.kill("SIGKILL");
      route.at = three;
      expect(await client.call("fix__echo", { message: "taken up" })).toContain("taken up");
      route.at = two;
      expect(await client.call("fix__echo", { message: "forwarded again" })).toContain("forwarded again");
      expect(await client.tools()).toContain("fix__echo");
    },
  );

  test("a session that was ended is unknown everywhere, also after the death of its owner", async () => {
    const team = await replicas(2);
    const [one, two] = team.replicas as [TeamProcess, TeamProcess];
    const session = await new RawSession(team.key).open(one);
    expect(session.id).toMatch(/^[\w-]{130}$/);
    const ended = await session.fetch(two, { method: "DELETE" });
    expect(ended.status).toBe(204);
    expect((await session.request(one, "tools/list")).status).toBe(404);
    await one.kill("SIGKILL");
    expect((await session.request(two, "tools/list")).status).toBe(404);
  });
});
