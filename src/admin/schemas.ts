/** The schemas of config objects and their changes, as the admin API takes and returns them. */
import { CONNECTION } from "../gateway/control.ts";
import { KINDS } from "../gateway/objects.ts";
import { ENDPOINT, NAMESPACE, SERVER, SETTINGS } from "../gateway/schemas.ts";
import { TOOL } from "../gateway/view/tool-row.ts";
import {
  ANY_OBJECT,
  BOOLEAN,
  COUNT,
  DATE,
  extended,
  list,
  type None,
  named,
  nullable,
  type ObjectSchema,
  object,
  type Properties,
  type Schema,
  type Static,
  TEXT,
  TEXTS,
  UUID,
} from "../kernel/json-schema.ts";
import { OBJECT_REFERENCE } from "../kernel/named-object.ts";
import { REVISION } from "../kernel/revision.ts";
import { COST } from "../kernel/tokens.ts";
import { MISSING, SERVER_STATUS } from "./replica-schemas.ts";

const STAMPS = {
  managedBy: { ...TEXT, description: '"api" or "file:NAME"' },
  revision: { ...COUNT, description: "the one that last changed it" },
} as const;
const STORED = { uuid: UUID, createdAt: DATE, updatedAt: DATE } as const;

interface Fields<P extends Properties, R extends keyof P> {
  readonly properties: P;
  readonly required?: readonly R[];
}

/** The schema of a returned object: all fields of the input, with their defaults, and more. */
function returned<
  const P extends Properties,
  const R extends keyof P = never,
  const M extends Properties = None,
  const O extends Properties = None,
>({ properties, required = [] }: Fields<P, R>, more: M, optional?: O): ObjectSchema<P & M & O, R | keyof M> {
  const preset = Object.keys(properties).filter((name) => "default" in (properties[name] ?? {}));
  const all = object(more, { ...properties, ...(optional as O) });
  return { ...all, required: [...all.required, ...required, ...(preset as R[])] };
}

type Patched<P> = { readonly [K in keyof P]: ReturnType<typeof nullable<P[K] & Schema>> };

/** The schema of a JSON Merge Patch (RFC 7396): every field is optional, and null removes a field. */
function patchOf<const P extends Properties>({ properties }: { readonly properties: P }) {
  const fields = Object.entries(properties).map(([name, schema]) => [
    name,
    nullable({ ...schema, default: undefined }),
  ]);
  return { type: "object", properties: Object.fromEntries(fields) as Patched<P> } as const;
}

/** One page of a list. */
export function listOf<const I extends Schema>(item: I) {
  return object({ items: list(item) }, { nextCursor: TEXT });
}

/** One page of a list that is gathered from all replicas. */
export function gatheredListOf<const I extends Schema>(item: I) {
  return extended(listOf(item), {}, { missing: MISSING });
}

export const NEW_SERVER = named("NewServer", SERVER);
export const SERVER_PATCH = named("ServerPatch", patchOf(SERVER));
export const RETURNED_SERVER = named(
  "Server",
  returned(SERVER, { ...STORED, ...STAMPS, status: SERVER_STATUS }),
);
export const SERVER_UPDATED = named(
  "ServerUpdated",
  object({
    message: { const: "Server updated successfully" },
    server: RETURNED_SERVER,
    connection: CONNECTION,
    namespaces: list(UUID),
  }),
);

export const NEW_NAMESPACE = named("NewNamespace", NAMESPACE);
export const NAMESPACE_PATCH = named("NamespacePatch", patchOf(NAMESPACE));
export const RETURNED_NAMESPACE = named("Namespace", returned(NAMESPACE, { ...STORED, ...STAMPS }));

export const NEW_ENDPOINT = named("NewEndpoint", ENDPOINT);
export const ENDPOINT_PATCH = named("EndpointPatch", patchOf(ENDPOINT));
export const RETURNED_ENDPOINT = named("Endpoint", returned(ENDPOINT, { ...STORED, ...STAMPS }));

export const SETTINGS_PATCH = named("SettingsPatch", patchOf(SETTINGS));
/** Settings that nobody changed yet are not stored. */
export const RETURNED_SETTINGS = named("Settings", returned(SETTINGS, STAMPS, STORED));

export const TOOL_DETAIL = named(
  "ToolDetail",
  extended(TOOL, COST, {
    definition: { ...ANY_OBJECT, description: "as clients see it: inputSchema, outputSchema …" },
    own: { ...ANY_OBJECT, description: "as its server lists it, if that differs" },
  }),
);

const CHANGE = named(
  "Change",
  object(
    {
      op: { enum: ["create", "update", "delete"] },
      kind: { enum: [...KINDS, "api-key", "user", "secret", "grant", "login"] },
      name: TEXT,
    },
    {
      uuid: UUID,
      fields: { ...TEXTS, description: "for an update: the changed fields" },
      before: {
        ...ANY_OBJECT,
        description: "in a dry run and in the history: the old values, secrets masked",
      },
      after: {
        ...ANY_OBJECT,
        description: "in a dry run and in the history: the new values, secrets masked",
      },
    },
  ),
);

export const CHANGES = named("Changes", object({ changes: list(CHANGE) }));
export type Change = Static<typeof CHANGE>;
export type Changes = Static<typeof CHANGES>;

const LEFT = {
  left: {
    ...list(OBJECT_REFERENCE),
    description: "objects of the file that the API took over: applying the file does not change them",
  },
} as const;

export const DIFF = extended(CHANGES, {}, LEFT);
export const APPLIED = named("Applied", extended(CHANGES, { revision: COUNT }, LEFT));

/**
 * For an update, `before` and `after` have only the changed fields. For settings they need the right to read
 * settings.
 */
export const REVISION_WITH_DIFF = named("RevisionWithDiff", extended(REVISION, { diff: list(CHANGE) }));

export const APPLY = named(
  "Apply",
  object(
    { document: { ...ANY_OBJECT, description: "as returned by GET /config" } },
    {
      prune: { ...BOOLEAN, default: false, description: "delete objects that are not in the document" },
      source: {
        type: "string",
        pattern: "^[^\\p{Cc}\\p{Cs}/\\\\]{1,128}$",
        description: "the name of the file that manages the objects of the document",
      },
    },
  ),
);
