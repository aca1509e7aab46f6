/** Which rights a change of the config takes, from what it changes: pure. The way it came (a patch, a document, a rollback) does not matter. */
import { isDeepStrictEqual } from "node:util";
import type { Action } from "../access/may.ts";
import type { Objects, StoredObject } from "../gateway/objects.ts";
import type { ToolOverride } from "../gateway/schemas.ts";
import { type ChangeRow, changesBetween } from "../gateway/settle.ts";

export interface Needed {
  readonly action: Action;
  /** For whoever lacks it. */
  readonly what: string;
}

type Annotations = NonNullable<ToolOverride["annotations"]>;
/** What a server itself says of a tool; undefined where it is not known. */
export type AnnotationsOf = (server: string, tool: string) => Annotations | undefined;

/** They decide who may do what: to loosen one is to give a right away. */
const GUARDED = new Set(["policy", "filter", "flow", "redact", "audit"]);

export function neededActions(before: Objects, after: Objects, own: AnnotationsOf): readonly Needed[] {
  return changesBetween(before, after).flatMap((row) => {
    const [old, now] = [before, after].map((objects) => objects[row.kind].get(row.uuid));
    return [...ofObject(row), ...ofLayers(row, old, now), ...ofParts(row, { old, now, own })];
  });
}

function ofObject({ kind, name, op, fields = [] }: ChangeRow): readonly Needed[] {
  const what = `${op} the ${kind} "${name}"`;
  if (kind === "settings") return [{ action: "settings", what: "change the settings" }];
  if (kind === "namespace") return [{ action: "namespaces.write", what }];
  if (kind === "endpoint") return [{ action: "endpoints.write", what }];
  const switched = op === "update" && fields.every((field) => field === "disabled");
  const changed = `change ${fields.join(", ")} of the server "${name}"`;
  return [{ action: switched ? "servers.switch" : "servers.write", what: op === "update" ? changed : what }];
}

/** Guarded layers must be the same ones, in the same order; where there is no object there are none. */
function ofLayers(
  { kind, name }: ChangeRow,
  old: StoredObject | undefined,
  now: StoredObject | undefined,
): readonly Needed[] {
  if (isDeepStrictEqual(guardedIn(old), guardedIn(now))) return [];
  const layers = "the layers policy, filter, flow, redact and audit, and custom layers";
  return [{ action: "layers.guarded", what: `change ${layers}, in the ${kind} "${name}"` }];
}

function guardedIn(object: StoredObject | undefined): readonly unknown[] {
  const { middleware } = object?.spec ?? {};
  return (middleware ?? []).filter(({ use }) => GUARDED.has(use) || use.startsWith("."));
}

interface Pair {
  readonly old: StoredObject | undefined;
  readonly now: StoredObject | undefined;
  readonly own: AnnotationsOf;
}

function ofParts({ kind, name }: ChangeRow, { old, now, own }: Pair): readonly Needed[] {
  if (!now) return [];
  if (kind === "endpoint") {
    const [was, is] = [old, now].map(
      (object) => (object as StoredObject<"endpoint"> | undefined)?.spec.access,
    );
    // A new endpoint is open to every account, which is what one gets who says nothing.
    if (isDeepStrictEqual(was ?? DEFAULT_ACCESS, is)) return [];
    return [{ action: "access.write", what: `change access of the endpoint "${name}"` }];
  }
  if (kind !== "namespace") return [];
  const known = new Map(toolsOf(old).map((rule) => [keyOf(rule), rule.annotations]));
  return toolsOf(now).flatMap((rule) => {
    const { server, tool, annotations = {} } = rule;
    if (isDeepStrictEqual(known.get(keyOf(rule)) ?? {}, annotations)) return [];
    const looser = looserIn(annotations, own(server, tool) ?? {});
    if (looser.length === 0) return [];
    return [
      { action: "annotations.loosen", what: `set ${looser.join(", ")} of the tool "${tool}" in "${name}"` },
    ];
  });
}

const DEFAULT_ACCESS = { public: false, keys: true, oauth: true, queryKey: false };

/** What makes others more careful may be said by anyone who may change the tool; the rest only where the server says it too. */
const STRICT = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
} as const;

function looserIn(overridden: Annotations, said: Annotations): readonly string[] {
  return (Object.keys(STRICT) as (keyof typeof STRICT)[]).filter((hint) => {
    const value = overridden[hint];
    return value !== undefined && value !== STRICT[hint] && value !== said[hint];
  });
}

function toolsOf(object: StoredObject | undefined): readonly ToolOverride[] {
  return (object as StoredObject<"namespace"> | undefined)?.spec.tools ?? [];
}

function keyOf({ server, tool }: ToolOverride): string {
  return JSON.stringify([server, tool]);
}
