/**
 * Random sequences of changes with few names, so that they affect the same objects. A refused change changes
 * nothing.
 */
import fc from "fast-check";
import { create, patch, remove } from "./changes.ts";
import { contextAt } from "./context.fixture.ts";
import { applyDocument } from "./document/apply.ts";
import { exportDocument } from "./document/document.ts";
import { rollback } from "./document/rollback.ts";
import { importServers } from "./import-servers.ts";
import { NO_OBJECTS, type ObjectKind, type Objects } from "./objects.ts";
import { Refusal } from "./refusal.ts";
import type { ChangeContext, ChangeOutcome } from "./settle.ts";

type NamedKind = Exclude<ObjectKind, "settings">;
/** One change of the last state in `history`. */
export type RandomChange = (history: readonly Objects[], context: ChangeContext) => ChangeOutcome;

export const SERVERS = ["git", "Docs", "my server", "1"] as const;
export const TOOLS = ["read", "write", "list", "a__b"] as const;
const NAMESPACES = ["dev", "ops", "2"] as const;
const ENDPOINTS = ["team", "all"] as const;

const some = <T>(list: readonly T[]) => fc.constantFrom(...list);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const last = (history: readonly Objects[]): Objects => history.at(-1) ?? NO_OBJECTS;

const server = fc
  .record({
    command: fc.constant("run"),
    env: maybe(
      fc.dictionary(some(["TOKEN", "HOST"]), some(["secret", "other", `\${HOST}`]), {
        noNullPrototype: true,
      }),
    ),
    disabled: maybe(fc.boolean()),
    prefix: maybe(some(["server", "none"])),
    labels: maybe(fc.constant(["x"])),
    cwd: maybe(some(["/", `\${UNSET}`])),
  })
  .map(defined);

const tool = fc
  .record({
    server: some(SERVERS),
    tool: some([...TOOLS, "gone"]),
    disabled: maybe(fc.boolean()),
    name: maybe(some([...TOOLS, "other"])),
    title: maybe(fc.constant("Title")),
    args: maybe(some([{ a: { fixed: 1 } }, { b: { default: null } }])),
  })
  .map(defined);

const namespace = fc
  .record({
    servers: fc.uniqueArray(
      fc
        .record({
          server: some(SERVERS),
          disabled: maybe(fc.boolean()),
          prefix: maybe(some(["none", "server", "crm"])),
        })
        .map(defined),
      { selector: (entry) => entry["server"] },
    ),
    tools: maybe(
      fc.uniqueArray(tool, {
        maxLength: 5,
        selector: (rule) => `${String(rule["server"])}:${String(rule["tool"])}`,
      }),
    ),
    newTools: maybe(some(["enabled", "disabled"])),
  })
  .map(defined);

const endpoint = fc
  .record({
    namespaces: fc.uniqueArray(some(NAMESPACES)),
    surface: maybe(some(["meta", "aggregate"])),
    disabled: maybe(fc.boolean()),
  })
  .map(defined);

const INPUTS = {
  server: fc.tuple(some(SERVERS), server),
  namespace: fc.tuple(some(NAMESPACES), namespace),
  endpoint: fc.tuple(some(ENDPOINTS), endpoint),
} as const;

/** Creates the object, or changes it if it exists. */
function put(kind: NamedKind): fc.Arbitrary<RandomChange> {
  return (INPUTS[kind] as fc.Arbitrary<readonly [string, object]>).map(
    ([name, fields]) =>
      (history, context) => {
        const objects = last(history);
        const there = [...objects[kind].values()].some((object) => object.name === name);
        return there
          ? patch(objects, { kind, reference: name }, fields, context)
          : create(objects, kind, { ...fields, name }, context);
      },
  );
}

const removal = fc
  .tuple(
    some([...SERVERS, ...NAMESPACES, ...ENDPOINTS]),
    some(["server", "namespace", "endpoint"]),
    fc.boolean(),
  )
  .map(([reference, kind, force]): RandomChange => {
    return (history, context) =>
      remove(last(history), { kind: kind as NamedKind, reference, force }, context);
  });

const renaming = fc
  .tuple(some(SERVERS), some(["Git2", "b", ...SERVERS]))
  .map(([reference, name]): RandomChange => {
    return (history, context) => patch(last(history), { kind: "server", reference }, { name }, context);
  });

const importing = INPUTS.server.map(([name, entry]): RandomChange => {
  return (history, context) => importServers(last(history), { mcpServers: { [name]: entry } }, context);
});

const goingBack = fc.nat().map((n): RandomChange => {
  return (history, context) => rollback(last(history), history[n % history.length] ?? NO_OBJECTS, context);
});

const applying = fc
  .tuple(fc.nat(), fc.boolean(), maybe(some(["f", "g"])))
  .map(([n, prune, source]): RandomChange => {
    return (history, context) => {
      const document = exportDocument(history[n % history.length] ?? NO_OBJECTS);
      return applyDocument(last(history), document, { prune, source, takeOver: true }, context);
    };
  });

export const randomChanges = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: put("server") },
    { weight: 6, arbitrary: put("namespace") },
    { weight: 3, arbitrary: put("endpoint") },
    { weight: 2, arbitrary: removal },
    { weight: 1, arbitrary: renaming },
    { weight: 1, arbitrary: importing },
    { weight: 1, arbitrary: goingBack },
    { weight: 1, arbitrary: applying },
  ),
  { minLength: 1, maxLength: 12 },
);

/** Creates all objects that references can name, so that few changes are refused. */
const INITIAL: readonly RandomChange[] = [
  (history, context) => {
    const mcpServers = Object.fromEntries(
      SERVERS.map((name) => [name, { command: "run", env: { TOKEN: "secret" } }]),
    );
    return importServers(last(history), { mcpServers }, context);
  },
  ...NAMESPACES.map((name): RandomChange => {
    const servers = SERVERS.map((one) => ({ server: one }));
    return (history, context) => create(last(history), "namespace", { name, servers }, context);
  }),
  ...ENDPOINTS.map((name): RandomChange => {
    return (history, context) => create(last(history), "endpoint", { name, namespaces: NAMESPACES }, context);
  }),
];

/** The initial state, and the state after each change that was not refused. */
export function historyOf(changes: readonly RandomChange[]): readonly Objects[] {
  const history: Objects[] = [NO_OBJECTS];
  for (const change of [...INITIAL, ...changes]) {
    try {
      history.push(change(history, contextAt(history.length)).objects);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
  return history;
}

function defined<T extends Record<string, unknown>>(fields: T): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
