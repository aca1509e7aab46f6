/**
 * The rules of a namespace for one server: enabled tools and their names. Immutable; namespaces with the same
 * rules share one part.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { sortedKeys } from "../kernel/sorted-keys.ts";
import type { StoredObject } from "./objects.ts";
import type { ToolOverride } from "./schemas.ts";

export interface NamespacePart {
  /** A hash of the whole content. */
  readonly key: string;
  /** uuid. */
  readonly server: string;
  /** The name of the server for clients. */
  readonly name: string;
  /** `server`, `none`, or another text. */
  readonly prefix: string;
  /** What disables the server here; undefined if it is enabled. */
  readonly off: "namespace" | "server" | undefined;
  readonly newTools: "enabled" | "disabled";
  /** By the server's own name of the tool. */
  readonly rules: ReadonlyMap<string, ToolOverride>;
  /**
   * The server's own names of tools, by overridden name. Includes disabled tools, which reserve their name
   * too.
   */
  readonly renamed: ReadonlyMap<string, string>;
}

/** The facts about a server that a part depends on. */
export interface PartServer {
  readonly uuid: string;
  readonly name: string;
  readonly prefix: string;
  readonly usable: boolean;
}

/** By `key`. */
export type PartsByKey = Map<string, NamespacePart>;

/**
 * In the order of the namespace. `known` has the existing parts, which are reused; new ones are added to it.
 */
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
    const content = [uuid, server.name, prefix ?? server.prefix, off, spec.newTools, own];
    const key = createHash("sha256").update(JSON.stringify(content, sortedKeys)).digest("base64url");
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

/**
 * Replaces rules that are equal to those of before by the same objects, so that tools made with them stay
 * valid.
 */
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
