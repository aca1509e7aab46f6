/** Policy tests: run on request, and before each change, which they can refuse. */
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { shared } from "../../support/shared.ts";
import { ADMIN_TOKEN, teamClient } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";
import { temp } from "../../support/temp.ts";

const RULES = [
  { effect: "deny", who: { groups: ["guests"] }, tools: ["fix:args"] },
  { effect: "approve", tools: ["fix:echo"], args: { message: { glob: "rm *" } } },
];
const TESTS = {
  "guests read nothing": { endpoint: "aggregate", as: "eve@example.org", tool: "fix:args", expect: "deny" },
  "ada reads": { endpoint: "aggregate", as: "ada@example.org", tool: "fix:args", expect: "allow" },
  "rm is approved": {
    endpoint: "aggregate",
    as: "group:guests",
    tool: "fix:echo",
    args: { message: "rm -r" },
    expect: "ask",
  },
};

const team = shared(async () => {
  const folder = temp();
  const made = await layeredTeam({
    folder,
    endpoint: { middleware: [{ use: "policy", default: "allow", rules: RULES }] },
  });
  const { api, gateway, key } = made;
  await api("POST", "/users", { email: "ada@example.org", role: "member" });
  await api("POST", "/users", { email: "eve@example.org", role: "member", groups: ["guests"] });
  await (await teamClient(gateway, "aggregate", { key })).tools();
  const { items } = (await api("GET", "/endpoints")).body;
  const { uuid } = items.find(({ name }: { name: string }) => name === "aggregate");
  Object.assign(folder.env, { METAMCP_ADMIN_TOKEN: ADMIN_TOKEN });
  const command = (...args: string[]) => metamcp(folder, ["gateway", ...args, "--gateway", gateway.url]);
  return { ...made, folder, uuid, command };
});

const withRules = (rules: readonly object[]) => ({
  middleware: [{ use: "policy", default: "allow", rules }],
});

test("a change that would break a stored test is refused with what was expected, what it got and the rule", async () => {
  const { api, uuid } = team();
  expect((await api("PATCH", "/settings", { tests: TESTS })).status).toBe(200);
  const { body } = await api("GET", "/policy-tests");
  expect(body).toMatchObject({ failed: 0 });
  expect(body.tests.map(({ name, got, by }: Record<string, string>) => [name, got, by])).toEqual([
    ["guests read nothing", "deny", 'policy (endpoint "aggregate"): rule 1 denies it'],
    ["ada reads", "allow", 'policy (endpoint "aggregate"): allowed by default'],
    ["rm is approved", "ask", 'policy (endpoint "aggregate"): rule 2'],
  ]);
  const { revision } = (await api("GET", `/endpoints/${uuid}`)).body;
  const dropped = [{ effect: "deny", tools: ["fix:args"] }];
  for (const query of ["", "?dryRun=true"]) {
    const refused = await api("PATCH", `/endpoints/${uuid}${query}`, withRules(dropped));
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({
      type: "urn:metamcp:problem:test-failed",
      tests: [
        {
          name: "ada reads",
          expect: "allow",
          got: "deny",
          by: 'policy (endpoint "aggregate"): rule 1 denies it',
        },
        { name: "rm is approved", expect: "ask", got: "allow" },
      ],
    });
  }
  expect((await api("GET", `/endpoints/${uuid}`)).body.revision).toBe(revision);
});

test("a new test that fails is not stored, and the endpoint of a test cannot be deleted without force", async () => {
  const { api, uuid } = team();
  const wrong = { ...TESTS["ada reads"], expect: "deny" };
  expect((await api("PATCH", "/settings", { tests: { wrong } })).status).toBe(422);
  const unknown = await api("PATCH", "/settings", { tests: { x: { ...wrong, endpoint: "nowhere" } } });
  expect(unknown.body.errors).toEqual([
    { path: "/tests/x/endpoint", message: 'there is no endpoint "nowhere"' },
  ]);
  expect((await api("DELETE", `/endpoints/${uuid}`)).status).toBe(409);
});

test("a draft of rules is tried without storing it", async () => {
  const { api, uuid } = team();
  const call = { endpoint: "aggregate", as: "ada@example.org", tool: "fix:args" };
  const draft = { at: { kind: "endpoint", uuid }, ...withRules([{ effect: "deny", tools: ["fix:ar*"] }]) };
  expect((await api("POST", "/policy-tests/try", call)).body.got).toBe("allow");
  expect((await api("POST", "/policy-tests/try", { ...call, draft })).body).toMatchObject({
    got: "deny",
    by: 'policy (endpoint "aggregate"): rule 1 denies it',
  });
});

test("rules say how many tools and people they name, and a matrix shows who may call what", async () => {
  const { api, uuid } = team();
  const { body } = await api("POST", "/policies/matches", { at: { kind: "endpoint", uuid }, rules: RULES });
  expect(body.rules[0]).toMatchObject({
    tools: { count: 1, names: ["fix:args"] },
    people: { count: 1, of: 2, names: ["eve@example.org"] },
  });
  expect(body.rules[1]).toMatchObject({ tools: { count: 1 }, people: { count: 2 } });
  const matrix = (await api("GET", `/endpoints/${uuid}/matrix`)).body;
  const at = matrix.tools.findIndex(({ tool }: { tool: string }) => tool === "args");
  const said = matrix.people.map(({ name, row }: { name: string; row: number[] }) => [
    name,
    matrix.verdicts[row[at] as number].effect,
  ]);
  expect(said).toEqual([
    ["ada@example.org", "allow"],
    ["eve@example.org", "deny"],
  ]);
});

test("an editor whose change breaks a test learns which, and not its arguments and rules", async () => {
  const { api, gateway } = team();
  const { ask } = await teamPerson(gateway, "editor");
  const off = { disabled: true };
  const { status, body } = await ask("PATCH", "/mcp-servers/fix", off);
  expect([status, body.tests]).toEqual([422, undefined]);
  expect(body.detail).toContain('"ada reads"');
  expect((await api("PATCH", "/mcp-servers/fix", off)).body.tests.length).toBeGreaterThan(0);
});

test("a document carries tests; diff, apply and test run them", async () => {
  const { api, folder, command } = team();
  const document = (await api("GET", "/config")).body;
  expect(document.tests["ada reads"]).toEqual(TESTS["ada reads"]);
  const file = folder.write("gateway.json", JSON.stringify(document));
  expect(await command("test")).toMatchObject({ code: 0 });
  expect(await command("test", file)).toMatchObject({ code: 0 });
  document.endpoints.aggregate.middleware = [];
  const broken = folder.write("broken.json", JSON.stringify(document));
  const tested = await command("test", broken);
  expect(tested).toMatchObject({ code: 1 });
  expect(tested.out).toContain("failed  guests read nothing");
  for (const verb of ["diff", "apply"]) {
    const refused = await command(verb, broken);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toContain('"guests read nothing": eve@example.org calls fix:args at aggregate');
  }
});

test("a server that was never listed is judged where its kind of tool does not matter", async () => {
  const { api } = team();
  await api("POST", "/mcp-servers", { name: "later", command: "nothing-there", disabled: false });
  await api("POST", "/namespaces", { name: "later", servers: [{ server: "later" }] });
  await api("POST", "/endpoints", {
    name: "later",
    namespaces: ["later"],
    middleware: [
      {
        use: "policy",
        default: "allow",
        rules: [
          { effect: "deny", tiers: ["destructive"] },
          { effect: "deny", tools: ["later:x"] },
        ],
      },
    ],
  });
  const tried = async (tool: string) =>
    (await api("POST", "/policy-tests/try", { endpoint: "later", as: "role:member", tool })).body.got;
  expect(await tried("later:x")).toBe("deny");
  expect(await tried("later:y")).toBe("unknown");
});
