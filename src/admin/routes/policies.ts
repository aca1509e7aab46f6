/** Routes for policies: run their tests, try a call, count what rules match, and show who may call what. */
import { accountPrincipal } from "../../access/account.ts";
import { patching } from "../../gateway/changes.ts";
import type { CompiledEndpoint } from "../../gateway/compile.ts";
import { serverFacts } from "../../gateway/endpoint/facts.ts";
import { finderOf } from "../../gateway/names.ts";
import { matchesOf, type RuleMatches } from "../../gateway/policy-matches.ts";
import { invalid } from "../../gateway/refusal.ts";
import { TEST_RESULT } from "../../gateway/test-result.ts";
import type { ToolRow } from "../../gateway/view/tool-row.ts";
import type { Static } from "../../kernel/json-schema.ts";
import type { Principal } from "../../kernel/principal.ts";
import { inTurns, type Steps } from "../../kernel/steps.ts";
import { qualifiedName, type ToolFacts } from "../../kernel/tool-facts.ts";
import {
  MATRIX,
  POLICY_MATCH,
  POLICY_MATCHES,
  POLICY_TESTS,
  POLICY_TRY,
  testsBody,
} from "../policy-schemas.ts";
import { route } from "../route.ts";
import { endpointAt, refusalOf } from "./endpoint-use.ts";
import { objectAt } from "./objects.ts";
import type { AdminParts } from "./parts.ts";

const MAX_NAMES = 50;
const MAX_PEOPLE = 100;

type Place = Static<typeof POLICY_MATCH>["at"];

export function policyRoutes(parts: AdminParts) {
  const { control } = parts;
  return [
    route({
      method: "GET",
      path: "/policy-tests",
      summary: "Run the policy tests of the settings on the current config",
      tag: "policies",
      action: "settings",
      answer: POLICY_TESTS,
      async handle() {
        return { body: testsBody(await control.judge()) };
      },
    }),
    route({
      method: "POST",
      path: "/policy-tests/try",
      summary:
        "Show what the rules say about a call, with or without layers that are not stored yet; nothing runs",
      tag: "policies",
      action: "settings",
      body: POLICY_TRY,
      answer: TEST_RESULT,
      async handle({ body, recordChanges }) {
        recordChanges([]);
        const { endpoint, as, tool, args, expect = "allow", draft } = body;
        const found = finderOf(control.compiled.objects.endpoint)(endpoint);
        if (!found)
          throw invalid([{ path: "/endpoint", message: `there is no endpoint "${endpoint.slice(0, 128)}"` }]);
        const test = { name: tool, endpoint: found.uuid, as, tool, expect, ...(args && { args }) };
        const [result] = await control.judge([test], draft && withLayers(parts, draft));
        if (!result) throw new Error("a test without result");
        return { body: result };
      },
    }),
    route({
      method: "POST",
      path: "/policies/matches",
      summary: "Count the tools and callers that rules of a policy name",
      tag: "policies",
      action: "settings",
      body: POLICY_MATCH,
      answer: POLICY_MATCHES,
      async handle({ body, recordChanges }) {
        recordChanges([]);
        return { body: { rules: await matchesAt(parts, body) } };
      },
    }),
    route({
      method: "GET",
      path: "/endpoints/:uuid/matrix",
      summary: "Show for people and tools of an endpoint whether they may call them, and which rule decides",
      tag: "policies",
      action: "settings",
      answer: MATRIX,
      handle: async (request) => ({ body: await inTurns(matrixOf(parts, endpointAt(parts, request))) }),
    }),
  ];
}

type Draft = NonNullable<Static<typeof POLICY_TRY>["draft"]>;

/** The change that would give an object these layers. A file may manage it: nothing is stored. */
function withLayers(parts: AdminParts, { at: { kind, uuid = "" }, middleware }: Draft) {
  const reference = kind === "settings" ? "" : objectAt(parts, kind, uuid).uuid;
  return (...[objects, context]: Parameters<Parameters<AdminParts["control"]["change"]>[1]>) =>
    patching(objects, { kind, reference, takeOver: true }, { middleware }, context);
}

interface Caller {
  readonly name: string;
  readonly principal: Principal;
  readonly key: boolean;
}

async function matchesAt(parts: AdminParts, { at, rules }: Static<typeof POLICY_MATCH>) {
  const tools = toolsAt(parts, at);
  const people = peopleIn(parts).map(
    (account): Caller => ({ name: account.email, principal: accountPrincipal(account), key: false }),
  );
  const keys = (await parts.access.keyControl.list()).flatMap(({ id, name, role }): Caller[] => {
    const [known] = role ? [] : parts.access.keys.byReference(id, undefined);
    return known && !known.expired ? [{ name, principal: known.principal, key: true }] : [];
  });
  const counted = (named: readonly string[], of: number) => ({
    count: named.length,
    of,
    names: named.slice(0, MAX_NAMES),
  });
  return matchesOf(rules as never, tools, [...people, ...keys]).map(
    ({ tools: matched, who }: RuleMatches<Caller>) => {
      const named = (key: boolean) => who.filter((one) => one.key === key).map(({ name }) => name);
      return {
        tools: counted(matched.map(qualifiedName), tools.length),
        people: counted(named(false), people.length),
        keys: counted(named(true), keys.length),
      };
    },
  );
}

function peopleIn({ access }: AdminParts) {
  return [...access.accounts.all]
    .filter(({ disabled }) => !disabled)
    .toSorted((a, b) => (a.email < b.email ? -1 : 1));
}

function toolsAt(parts: AdminParts, { kind, uuid = "" }: Place): readonly ToolFacts[] {
  const { control } = parts;
  const { servers } = control.compiled;
  const rows =
    kind === "settings"
      ? [...servers.keys()].flatMap((server) => control.toolsOf({ kind: "server", uuid: server }))
      : control.toolsOf({ kind, uuid: objectAt(parts, kind, uuid).uuid });
  return rows
    .filter(({ missing }) => !missing)
    .map(({ server, tool, annotations = {} }) => ({
      ...serverFacts(server, control.compiled),
      name: tool,
      annotations,
    }));
}

/** Pauses between people. */
function* matrixOf(parts: AdminParts, endpoint: CompiledEndpoint): Steps<Static<typeof MATRIX>> {
  const { control } = parts;
  const { uuid } = endpoint.object;
  const everybody = peopleIn(parts);
  const verdicts = new Map<string, number>();
  const numberOf = (verdict: Verdict): number => {
    const text = JSON.stringify(verdict);
    const known = verdicts.get(text) ?? verdicts.size;
    verdicts.set(text, known);
    return known;
  };
  const listed = control.toolsOf({ kind: "endpoint", uuid }).filter(({ missing }) => !missing);
  const people: Static<typeof MATRIX>["people"][number][] = [];
  for (const account of everybody.slice(0, MAX_PEOPLE)) {
    const refused = refusalOf(endpoint.object, { account });
    const rows = new Map(
      control
        .toolsOf({ kind: "endpoint", uuid }, accountPrincipal(account))
        .map((row) => [`${row.server} ${row.tool}`, row]),
    );
    people.push({
      uuid: account.uuid,
      name: account.email,
      role: account.role,
      refused: refused !== undefined,
      row: listed.map(({ server, tool }) =>
        numberOf(
          refused === undefined
            ? verdictOf(rows.get(`${server} ${tool}`))
            : { effect: "deny", because: `access: ${refused}` },
        ),
      ),
    });
    yield;
  }
  const nameOf = (server: string) => control.compiled.servers.get(server)?.object.name ?? server;
  return {
    tools: listed.map(({ server, tool, name }) => ({
      server: { uuid: server, name: nameOf(server) },
      tool,
      name,
    })),
    verdicts: [...verdicts.keys()].map((text) => JSON.parse(text) as Verdict),
    people,
    more: Math.max(0, everybody.length - MAX_PEOPLE),
  };
}

type Verdict = Static<typeof MATRIX>["verdicts"][number];

/** Layers that ask a person or look at the arguments, unlike limits. */
const ASKING = /^(?:policy|ask|flow) \(/;

function verdictOf(row: ToolRow | undefined): Verdict {
  if (!row?.enabled) return { effect: "deny", because: row?.because ?? "it is off" };
  const asking = row.gates?.filter((gate) => ASKING.test(gate)) ?? [];
  if (asking.length > 0) return { effect: "ask", because: asking.join("; ") };
  return { effect: "allow", because: row.because ?? "nothing forbids it" };
}
