/** A login during a call: the client is sent to a page, the person logs in there, and the call continues. */
import { expect, test } from "vitest";
import { ELICITATION_REVISIONS, elicitationClient, type Question } from "../../support/elicitation-client.ts";
import { until } from "../../support/until.ts";
import { completeLogin, type UserLoginPerson, userLoginTeam } from "../../support/user-login-team.ts";

/** The person opens the page, agrees there and at the issuer. */
async function visit({ browser }: UserLoginPerson, { url = "" }: Question): Promise<string> {
  const page = await browser.open(url);
  const leave = await browser.submit(page, { action: "begin" });
  const [, address = ""] = /url=(\S+)$/.exec(leave.headers.get("refresh") ?? "") ?? [];
  return (await completeLogin(browser, address)).text;
}

const CALLS = [
  ["main", "mcp_call", { server: "mail", tool: "inbox", args: {} }],
  ["all", "mail__inbox", {}],
  ["tools", "run_tool", { tool_id: "mail:inbox", args: {} }],
  ["main", "mcp_execute", { code: "return await tools.mail.inbox({})" }],
] as const;

test.each(ELICITATION_REVISIONS)("a call continues after the login, on every surface (%s)", async (era) => {
  const { gateway, ada, mail } = await userLoginTeam();
  for (const [at, [endpoint, name, args]] of CALLS.entries()) {
    const visited: Promise<string>[] = [];
    const client = await elicitationClient(gateway, endpoint, {
      key: ada.key,
      era,
      async answer(question) {
        visited.push(visit(ada, question));
        return "accept";
      },
    });
    expect(await client.call(name, args), `${endpoint} ${name}`).toContain(`inbox by user ${at}`);
    expect(client.asked).toMatchObject([{ mode: "url", message: expect.stringContaining("mail requires") }]);
    expect(new URL(client.asked[0]?.url ?? "").origin).toBe(gateway.url);
    expect((await Promise.all(visited))[0]).toContain("You can use");
    if (era === "2025-11-25") {
      await until(() => client.completed.length > 0, { what: "the word that it is over" });
      expect(client.completed).toEqual([client.asked[0]?.elicitationId]);
    }
    // The next call needs no login.
    expect(await client.call(name, args)).toContain(`inbox by user ${at}`);
    expect(client.asked).toHaveLength(1);
    await ada.ask("DELETE", "/me/logins/mail");
  }
  expect(mail.users).toContain(3);
});

test.each(ELICITATION_REVISIONS)(
  "a client that declines or cancels gets the address of the login (%s)",
  async (era) => {
    const { gateway, ada, bob, mail } = await userLoginTeam();
    for (const action of ["decline", "cancel"] as const) {
      const client = await elicitationClient(gateway, "main", {
        key: ada.key,
        era,
        answer: async () => action,
      });
      const told = await client.call("mcp_call", { server: "mail", tool: "inbox" });
      expect(told).toMatch(/^auth_required/);
      expect(told).toContain(`${gateway.url}/oauth/logins/`);
      expect(client.asked).toHaveLength(1);
    }
    // Another account cannot use the page.
    const tried: string[] = [];
    const client = await elicitationClient(gateway, "main", {
      key: ada.key,
      era,
      async answer({ url = "" }) {
        tried.push((await bob.browser.open(url)).text);
        return "decline";
      },
    });
    expect(await client.call("mcp_call", { server: "mail", tool: "inbox" })).toMatch(/^auth_required/);
    expect(tried[0]).toContain("another account asked");
    expect(mail.users).toEqual([]);
  },
);

test("a login that was revoked is requested again during the next call", async () => {
  const { gateway, ada, by } = await userLoginTeam();
  await ada.logIn();
  const client = await elicitationClient(gateway, "main", {
    key: ada.key,
    era: "2025-11-25",
    async answer(question) {
      void visit(ada, question);
      return "accept";
    },
  });
  const call = () => client.call("mcp_call", { server: "mail", tool: "inbox" });
  expect(await call()).toBe("inbox by user 0");
  expect(client.asked).toEqual([]);
  by.revokeAll();
  expect(await call()).toBe("inbox by user 1");
  expect(client.asked).toHaveLength(1);
});
