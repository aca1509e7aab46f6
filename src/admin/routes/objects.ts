/** Routes that servers, namespaces and endpoints share: list, read, create, change, delete. */
import type { Action } from "../../access/may.ts";
import { create, patch, remove } from "../../gateway/changes.ts";
import { find } from "../../gateway/names.ts";
import type { ObjectKind, StoredObject } from "../../gateway/objects.ts";
import { present } from "../../gateway/present.ts";
import type { Principal } from "../../kernel/principal.ts";
import { pageOf } from "../page.ts";
import { Problem } from "../problem.ts";
import { DRY_RUN, FORCE, LIST_QUERY, type Route, TAKE_OVER } from "../route.ts";
import { listOf, ref } from "../schemas.ts";
import { type AdminParts, BASE, change, guardsOf, isOn, tagged } from "./parts.ts";

export type RoutedKind = Exclude<ObjectKind, "settings">;

export interface Routed<K extends RoutedKind> {
  readonly kind: K;
  /** E.g. `/namespaces`. */
  readonly path: string;
  /** Base name of its schemas, e.g. `Namespace`. */
  readonly schema: string;
  /** The right to create, change and delete one. */
  readonly editedBy: Action;
  readonly show?: (object: StoredObject<K>, principal: Principal) => object;
}

export function objectAt<K extends RoutedKind>(
  { control }: AdminParts,
  kind: K,
  reference: string,
): StoredObject<K> {
  const found = find(control.compiled.objects[kind], reference);
  if (!found) throw unknownObject(kind, reference);
  return found;
}

/** The same 404 for an unknown object and for one that the caller may not see. */
export function unknownObject(kind: RoutedKind, reference: string): Problem {
  return new Problem(404, `there is no ${kind} "${reference.slice(0, 128)}"`);
}

export function readRoutes<K extends RoutedKind>(parts: AdminParts, routed: Routed<K>): readonly Route[] {
  const { kind, path, schema, show = present } = routed;
  return [
    {
      method: "GET",
      path,
      summary: `List the ${kind}s`,
      tag: path.slice(1),
      action: "objects.read",
      query: LIST_QUERY,
      answer: listOf(ref(schema)),
      handle({ query, principal }) {
        const objects = [...parts.control.compiled.objects[kind].values()] as StoredObject<K>[];
        const { items, ...rest } = pageOf(objects, query, { keyOf: ({ uuid }) => uuid, textOf });
        return { body: { items: items.map((object) => show(object, principal)), ...rest } };
      },
    },
    {
      method: "GET",
      path: `${path}/:uuid`,
      summary: `Read one ${kind}`,
      tag: path.slice(1),
      action: "objects.read",
      answer: ref(schema),
      handle({ params, principal }) {
        const object = objectAt(parts, kind, params["uuid"] ?? "");
        return tagged(object, show(object, principal));
      },
    },
  ];
}

const WITH_ARTICLE = { server: "a server", namespace: "a namespace", endpoint: "an endpoint" } as const;

export function createRoute<K extends RoutedKind>(parts: AdminParts, routed: Routed<K>): Route {
  const { kind, path, schema, editedBy, show = present } = routed;
  return {
    method: "POST",
    path,
    summary: `Create ${WITH_ARTICLE[kind]}`,
    tag: path.slice(1),
    action: editedBy,
    query: DRY_RUN,
    body: ref(`New${schema}`),
    status: 201,
    answer: ref(schema),
    async handle(request) {
      const done = await change(parts, request, (objects, context) =>
        create(objects, kind, request.body, context),
      );
      if ("dry" in done) return done.dry;
      const { object } = done.outcome;
      const location = `${BASE}${path}/${object.uuid}`;
      return tagged(object, show(object, request.principal), { status: 201, headers: { location } });
    },
  };
}

export function patchRoute<K extends RoutedKind>(parts: AdminParts, routed: Routed<K>): Route {
  const { kind, path, schema, editedBy, show = present } = routed;
  return {
    method: "PATCH",
    path: `${path}/:uuid`,
    summary: `Change ${WITH_ARTICLE[kind]}: a JSON Merge Patch`,
    tag: path.slice(1),
    action: editedBy,
    query: { ...DRY_RUN, ...TAKE_OVER },
    body: ref(`${schema}Patch`),
    answer: ref(schema),
    async handle(request) {
      const at = { kind, reference: request.params["uuid"] ?? "", ...guardsOf(request) };
      const done = await change(parts, request, (objects, context) =>
        patch(objects, at, request.body, context),
      );
      if ("dry" in done) return done.dry;
      return tagged(done.outcome.object, show(done.outcome.object, request.principal));
    },
  };
}

export function removeRoute<K extends RoutedKind>(
  parts: AdminParts,
  { kind, path, editedBy }: Routed<K>,
): Route {
  return {
    method: "DELETE",
    path: `${path}/:uuid`,
    summary: `Delete ${WITH_ARTICLE[kind]}`,
    tag: path.slice(1),
    action: editedBy,
    query: { ...DRY_RUN, ...TAKE_OVER, ...(kind === "endpoint" ? {} : FORCE) },
    async handle(request) {
      const force = isOn(request.query, "force");
      const at = { kind, reference: request.params["uuid"] ?? "", force, ...guardsOf(request) };
      const done = await change(parts, request, (objects, context) => remove(objects, at, context));
      return "dry" in done ? done.dry : {};
    },
  };
}

function textOf({ name, spec }: StoredObject): string {
  return `${name}\n${"description" in spec ? spec.description : ""}`;
}
