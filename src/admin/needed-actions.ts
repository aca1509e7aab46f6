/** Computes the rights that a config change needs, by comparing the objects before and after. Patch, document and rollback are treated alike. Pure. */
import { isDeepStrictEqual } from "node:util";
import type { Action } from "../access/may.ts";
import type { Objects, StoredObject } from "../gateway/objects.ts";
import type { ToolOverride } from "../gateway/schemas.ts";
import { type ChangeRow, changesBetween } from "../gateway/settle.ts";

export interface NeededAction {
  readonly action: Action;
  /** The text for the refusal: "your role does not allow you to …". */
  readonly what: string;
}

type Annotations = NonNullable<ToolOverride["annotations"]>;
/** The annotations that a server declares for its tool. Undefined if they are unknown. */
export type AnnotationsOf = (server: string, tool: string) => Annotations | undefined;

/** Layers that restrict access or record it. Loosening one would grant rights. */
const GUARDED_LAYERS = new Set(["policy", "filter", "flow", "redact", "audit"]);

export function neededActions(before: Objects, after: Objects, own: AnnotationsOf): readonly NeededAction[] {
  return changesBetween(before, after).flatMap((row) => {
    const [old, now] = [before, after].map((objects) => objects[row.kind].get(row.uuid));
    return [...objectActions(row), ...layerActions(row, old, now), ...partActions(row, { old, now, own })];
  });
}

function objectActions({ kind, name, op, fields = [] }: ChangeRow): readonly NeededAction[] {
  const what = `${op} the ${kind} "${name}"`;
  if (kind === "settings") return [{ action: "settings", what: "change the settings" }];
  if (kind === "namespace") return [{ action: "namespaces.write", what }];
  if (kind === "endpoint") return [{ action: "endpoints.write", what }];
  const switched = op === "update" && fields.every((field) => field === "disabled");
  const changed = `change ${fields.join(", ")} of the server "${name}"`;
  return [{ action: switched ? "servers.switch" : "servers.write", what: op === "update" ? changed : what }];
}

/** A change needs the right if guarded layers are added, removed, changed or reordered. A missing object has no layers. */
function layerActions(
  { kind, name }: ChangeRow,
  old: StoredObject | undefined,
  now: StoredObject | undefined,
): readonly NeededAction[] {
  if (isDeepStrictEqual(guardedIn(old), guardedIn(now))) return [];
  const layers = "the layers policy, filter, flow, redact and audit, and custom layers";
  return [{ action: "layers.guarded", what: `change ${layers}, in the ${kind} "${name}"` }];
}

function guardedIn(object: StoredObject | undefined): readonly unknown[] {
  const { middleware } = object?.spec ?? {};
  return (middleware ?? []).filter(({ use }) => GUARDED_LAYERS.has(use) || use.startsWith("."));
}

interface Versions {
  readonly old: StoredObject | undefined;
  readonly now: StoredObject | undefined;
  readonly own: AnnotationsOf;
}

function partActions({ kind, name }: ChangeRow, { old, now, own }: Versions): readonly NeededAction[] {
  if (!now) return [];
  if (kind === "endpoint") {
    const [was, is] = [old, now].map(
      (object) => (object as StoredObject<"endpoint"> | undefined)?.spec.access,
    );
    // An endpoint that is created without `access` is open to every account. This default needs no extra right.
    if (isDeepStrictEqual(was ?? DEFAULT_ACCESS, is)) return [];
    return [{ action: "access.write", what: `change access of the endpoint "${name}"` }];
  }
  if (kind !== "namespace") return [];
  const known = new Map(toolsOf(old).map((rule) => [keyOf(rule), rule.annotations]));
  return toolsOf(now).flatMap((rule) => {
    const { server, tool, annotations = {} } = rule;
    if (isDeepStrictEqual(known.get(keyOf(rule)) ?? {}, annotations)) return [];
    const looser = loosenedIn(annotations, own(server, tool) ?? {});
    if (looser.length === 0) return [];
    return [
      { action: "annotations.loosen", what: `set ${looser.join(", ")} of the tool "${tool}" in "${name}"` },
    ];
  });
}

const DEFAULT_ACCESS = { public: false, keys: true, oauth: true, queryKey: false };

/** The careful value of each hint. An editor may set it freely, but any other value only if the server declares the same. */
const CAREFUL = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
} as const;

function loosenedIn(overridden: Annotations, declared: Annotations): readonly string[] {
  return (Object.keys(CAREFUL) as (keyof typeof CAREFUL)[]).filter((hint) => {
    const value = overridden[hint];
    return value !== undefined && value !== CAREFUL[hint] && value !== declared[hint];
  });
}

function toolsOf(object: StoredObject | undefined): readonly ToolOverride[] {
  return (object as StoredObject<"namespace"> | undefined)?.spec.tools ?? [];
}

function keyOf({ server, tool }: ToolOverride): string {
  return JSON.stringify([server, tool]);
}
