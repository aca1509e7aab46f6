import { expect, test } from "vitest";
import { clientSnippets } from "./remote-entry.ts";
import { CLIENTS } from "./table.ts";

const remote = { name: "team", url: "http://gateway.test/mcp", headers: {} };
const START = { command: "node", args: ["metamcp.js"], env: {} };

test("an entry for few tools says that the client shows them at once, one for many does not", async () => {
  const textOf = async (few: boolean, id: string) =>
    (await clientSnippets({ ...remote, few })).find(({ client }) => client === id)?.text;
  expect(await textOf(true, "claude-code")).toContain('"alwaysLoad": true');
  expect(await textOf(true, "copilot")).toContain('"deferTools": "never"');
  for (const id of ["claude-code", "copilot"])
    expect(await textOf(false, id)).not.toMatch(/alwaysLoad|deferTools/);
});

test("what init writes has the same keys", () => {
  for (const { shown, entry } of CLIENTS) expect(entry(START)).toMatchObject(shown ?? {});
});
