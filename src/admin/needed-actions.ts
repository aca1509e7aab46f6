/**
 * Computes the rights that a config change needs, by comparing the objects before and after. Patch, document
 * and rollback are treated alike. Pure.
 */
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

export interface RightsFacts {
  readonly annotationsOf: AnnotationsOf;
  /** Whether a layer guards access or data. Loosening one would grant rights. */
  readonly guards: (use: string) => boolean;
}

export function neededActions(before: Objects, after: Objects, facts: RightsFacts): readonly NeededAction[] {
  return changesBetween(before, after).flatMap((row) => {
    const [old, now] = [before, after].map((objects) => objects[row.kind].get(row.uuid));
    const versions = { old, now, ...facts };
    return [...objectActions(row), ...layerActions(row, versions), ...partActions(row, versions)];
  });
}

interface Versions extends RightsFacts {
  readonly old: StoredObject | undefined;
  readonly now: StoredObject | undefined;
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

/**
 * A change needs the right if guarded layers are added, removed, changed or reordered. A missing object has
 * no layers.
 */
function layerActions({ kind, name }: ChangeRow, { old, now, guards }: Versions): readonly NeededAction[] {
  const guarding = (object: StoredObject | undefined) =>
    (object?.spec.middleware ?? []).filter(({ use }) => guards(use));
  const [were, are] = [guarding(old), guarding(now)];
  if (isDeepStrictEqual(were, are)) return [];
  const names = [...new Set([...were, ...are].map(({ use }) => use))].join(", ");
  const what = `change layers that guard access or data (${names}), in the ${kind} "${name}"`;
  return [{ action: "layers.guarded", what }];
}

function partActions(
  { kind, name }: ChangeRow,
  { old, now, annotationsOf }: Versions,
): readonly NeededAction[] {
  if (!now) return [];
  if (kind === "endpoint") {
    const [was, is] = [old, now].map(
      (object) => (object as StoredObject<"endpoint"> | undefined)?.spec.access,
    );
    // An endpoint that is created without `access` is open to every account. This default needs no extra
    // right.
    if (isDeepStrictEqual(was ?? DEFAULT_ACCESS, is)) return [];
    return [{ action: "access.write", what: `change access of the endpoint "${name}"` }];
  }
  if (kind !== "namespace") return [];
  const known = new Map(toolsOf(old).map((rule) => [keyOf(rule), rule.annotations]));
  return toolsOf(now).flatMap((rule) => {
    const { server, tool, annotations = {} } = rule;
    if (isDeepStrictEqual(known.get(keyOf(rule)) ?? {}, annotations)) return [];
    const looser = loosenedIn(annotations, annotationsOf(server, tool) ?? {});
    if (looser.length === 0) return [];
    return [
      { action: "annotations.loosen", what: `set ${looser.join(", ")} of the tool "${tool}" in "${name}"` },
    ];
  });
}

const DEFAULT_ACCESS = { public: false, keys: true, oauth: true, queryKey: false };

/**
 * The careful value of each hint. An editor may set it freely, but any other value only if the server
 * declares the same.
 */
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
