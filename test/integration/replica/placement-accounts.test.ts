/** A server with placement "one" and values of each account, through the replica that does not run it. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { placedTeam } from "../../support/placed-team.ts";
import { RawSession } from "../../support/replica-team.ts";
import { inStep, onPostgres } from "../../support/replicas.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { ROOT } from "../../support/temp.ts";
import { userLoginPerson } from "../../support/user-login-team.ts";

onPostgres("a server that may run only once, with values of accounts", () => {
  test("each account has its own process with its own values, whichever replica it asks", async () => {
    const args = [join(ROOT, "test/fixture/own-child.mjs")];
    const env = { WHO: `\${user.email}`, TOKEN: `\${user.secret.MAIL}` };
    const { replicas } = await placedTeam(2, { entry: { args, env } });
    const [one, two] = replicas as [TeamProcess, TeamProcess];
    const ask = async (email: string) => {
      const person = await userLoginPerson(one, email);
      await person.ask("PUT", "/me/secrets/MAIL", { value: `secret of ${email}` });
      await inStep(replicas, person.key, "team");
      const answers = [];
      for (const at of [one, two]) {
        const session = await new RawSession(person.key).open(at);
        answers.push(await session.call(at, "once__whoami"));
      }
      return answers;
    };
    const pids = [];
    for (const email of ["ada@example.org", "bob@example.org"]) {
      const [here, there] = await ask(email);
      expect(here).toMatch(new RegExp(`^${email} secret of ${email} \\d+$`));
      expect(there).toBe(here);
      pids.push(here?.split(" ").at(-1));
    }
    expect(new Set(pids).size).toBe(2);
  });
});
