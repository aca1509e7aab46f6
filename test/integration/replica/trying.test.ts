/** Calls that an administrator tries or repeats, at another replica than the one that has them. */
import { expect, test } from "vitest";
import { readEvents } from "../../support/event-reader.ts";
import { apiClient } from "../../support/people.ts";
import { RawSession, replicas, type Team } from "../../support/replica-team.ts";
import { inStep, onPostgres } from "../../support/replicas.ts";
import { shared } from "../../support/shared.ts";
import { teamPerson } from "../../support/team-person.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { until } from "../../support/until.ts";

type Two = [TeamProcess, TeamProcess];

const echoes = ({ journal }: Team): number =>
  journal.events("message").filter(({ method, tool }) => method === "tools/call" && tool === "echo").length;

onPostgres("trying tools at two replicas", () => {
  const made = shared(async () => {
    const team = await replicas(2);
    const annotations = { readOnlyHint: true };
    const [one] = team.replicas as Two;
    await one.api("PATCH", "/namespaces/team", { tools: [{ server: "fix", tool: "echo", annotations }] });
    await inStep(team.replicas, team.key, "team");
    return team;
  });

  test("a question of a tried call is answered at the other replica, by the person who tries it", async () => {
    const [one, two] = made().replicas as Two;
    const [ada, bob] = [
      await teamPerson(one, "admin"),
      await teamPerson(one, "admin", { email: "bob@x.org" }),
    ];
    const atTwo = (cookie: string, origin = two.url) => apiClient(two.url, { cookie, origin });
    await until(async () => (await atTwo(bob.cookie)("GET", "/me")).status === 200);
    const tried = await ada.watch("POST", "/endpoints/team/try", { server: "fix", tool: "ask", args: {} });
    const { id } = await tried.next("begun");
    const { question } = await tried.next("question");
    const path = `/endpoints/team/try/${id}/answers`;
    const answer = { question: question.id, action: "accept", content: { name: "Ada" } };
    expect((await atTwo(bob.cookie)("POST", path, answer)).status).toBe(404);
    // The replica that gets it from the browser refuses a page of another site.
    expect((await atTwo(ada.cookie, "https://evil.example")("POST", path, answer)).status).toBe(403);
    expect((await atTwo("")("POST", path, answer)).status).toBe(401);
    expect((await atTwo(ada.cookie)("POST", path, answer)).status).toBe(204);
    expect(JSON.stringify((await tried.next("result")).result)).toContain("answered");
    const again = await atTwo(ada.cookie)("POST", path, answer);
    expect(again).toMatchObject({ status: 404, body: { detail: "you have no such running call" } });
  });

  test("a call is repeated where it was made, from any replica, once", async () => {
    const team = made();
    const [one, two] = team.replicas as Two;
    const ada = await teamPerson(two, "admin", { email: "ada@x.org" });
    const session = await new RawSession(team.key).open(one);
    await session.call(one, "fix__echo", { message: "once more" });
    const before = echoes(team);
    const { id } = await until(async () => {
      const { items } = (await one.api("GET", "/calls")).body;
      return items.find(({ tool }: { tool: string }) => tool === "echo");
    });
    const repeated = await ada.watch("POST", `/calls/${id}/replay`);
    expect(JSON.stringify((await repeated.next("result")).result)).toContain("once more");
    await until(() => repeated.ended);
    expect(echoes(team)).toBe(before + 1);
  });

  test("of a replica that is gone nothing can be tried or repeated, and the answer says so", async () => {
    const [, two] = made().replicas as Two;
    const ada = await teamPerson(two, "admin", { email: "eve@x.org" });
    const gone = { status: 404, body: { detail: expect.stringMatching(/replica 0123abcd .* is gone/) } };
    const answer = { question: "1", action: "accept" };
    expect(await ada.ask("POST", "/endpoints/team/try/0123abcd-1/answers", answer)).toMatchObject(gone);
    expect(await ada.ask("POST", "/calls/0123abcd-1/replay")).toMatchObject(gone);
    const unknown = await readEvents(`${two.url}/api/v1/calls/0123abcd-1/replay`, { method: "POST" });
    expect(unknown.status).toBe(401);
  });
});
