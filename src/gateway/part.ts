/** What a namespace says about one server: which tools are on, and under which names. A value; namespaces that say the same share it. */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../kernel/is-record.ts";
import type { StoredObject } from "./objects.ts";
import type { ToolOverride } from "./schemas.ts";

export interface NamespacePart {
  /** A hash of all that it says. */
  readonly key: string;
  /** uuid. */
  readonly server: string;
  /** What clients call the server. */
  readonly name: string;
  /** `server`, `none`, or a text of its own. */
  readonly prefix: string;
  /** Who turned the server off here; undefined where it is on. */
  readonly off: "namespace" | "server" | undefined;
  readonly newTools: "enabled" | "disabled";
  /** By the server's own name of the tool. */
  readonly rules: ReadonlyMap<string, ToolOverride>;
  /** Own names by the name that an override gives, disabled ones included: they hold the name too. */
  readonly renamed: ReadonlyMap<string, string>;
}

/** What a part needs to know of its server. */
export interface PartServer {
  readonly uuid: string;
  readonly name: string;
  readonly prefix: string;
  readonly usable: boolean;
}

/** By their keys. */
export type PartsByKey = Map<string, NamespacePart>;

/** In the order of the namespace. `known`: parts of before, and those made so far; equal ones are taken from there. */
export function partsOf(
  { spec }: StoredObject<"namespace">,
  serverOf: (uuid: string) => PartServer | undefined,
  known: PartsByKey,
): readonly NamespacePart[] {
  const rules = new Map<string, ToolOverride[]>();
  for (const rule of spec.tools) {
    const list = rules.get(rule.server);
    if (list) list.push(rule);
    else rules.set(rule.server, [rule]);
  }
  return spec.servers.flatMap(({ server: uuid, disabled, prefix }) => {
    const server = serverOf(uuid);
    if (!server) return [];
    const off = disabled ? "namespace" : server.usable ? undefined : "server";
    const own = rules.get(uuid) ?? [];
    const said = [uuid, server.name, prefix ?? server.prefix, off, spec.newTools, own];
    const key = createHash("sha256").update(JSON.stringify(said, inOrder)).digest("base64url");
    const part = known.get(key) ?? {
      key,
      server: uuid,
      name: server.name,
      prefix: prefix ?? server.prefix,
      off,
      newTools: spec.newTools,
      rules: new Map(own.map((rule) => [rule.tool, rule])),
      renamed: new Map(own.flatMap(({ tool, name }) => (name === undefined ? [] : [[name, tool]]))),
    };
    known.set(key, part);
    return [part];
  });
}

/** Objects that differ in the order of their keys say the same. */
function inOrder(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The namespace with every rule that says the same as before as the same object: what was made for it stays good. */
export function withKnownRules(
  namespace: StoredObject<"namespace">,
  before: StoredObject<"namespace"> | undefined,
): StoredObject<"namespace"> {
  if (!before) return namespace;
  const keyOf = ({ server, tool }: ToolOverride): string => `${server} ${tool}`;
  const known = new Map(before.spec.tools.map((rule) => [keyOf(rule), rule]));
  const tools = namespace.spec.tools.map((rule) => {
    const old = known.get(keyOf(rule));
    return old && isDeepStrictEqual(old, rule) ? old : rule;
  });
  return { ...namespace, spec: { ...namespace.spec, tools } };
}
