/** Routes that servers, namespaces and endpoints share: list, read, create, change, delete. */
import { type Action, may } from "../../access/may.ts";
import { creating, patching, remove } from "../../gateway/changes.ts";
import { find } from "../../gateway/names.ts";
import type { ObjectKind, StoredObject } from "../../gateway/objects.ts";
import type { None, Schema, Static, Written } from "../../kernel/json-schema.ts";
import type { Principal } from "../../kernel/principal.ts";
import { resultOf } from "../../kernel/steps.ts";
import { pageOf } from "../page.ts";
import { Problem } from "../problem.ts";
import { DRY_RUN, FORCE, LIST_QUERY, type RouteOf, route, TAKE_OVER } from "../route.ts";
import { listOf } from "../schemas.ts";
import { type AdminParts, BASE, change, guardsOf, tagged } from "./parts.ts";

export type RoutedKind = Exclude<ObjectKind, "settings">;

/** `P` is the path; `R`, `N` and `C` are the schemas of a returned object, a new object and a change. */
export interface Routed<
  K extends RoutedKind,
  P extends string = string,
  R extends Schema = Schema,
  N extends Schema = Schema,
  C extends Schema = Schema,
> {
  readonly kind: K;
  /** E.g. `/namespaces`. */
  readonly path: P;
  readonly returned: R;
  readonly created: N;
  readonly patched: C;
  /** The right to create, change and delete one. */
  readonly editedBy: Action;
  readonly show: (object: StoredObject<K>, principal: Principal) => Written<Static<R>>;
  /**
   * Throws if the object names a person that does not exist. Only for callers who may know that: others may
   * not make such a change either.
   */
  readonly check?: (before: StoredObject<K> | undefined, after: StoredObject<K>) => void;
  /** Shows what is read, with the facts of all replicas. Default: `show`. */
  readonly showAll?: (
    objects: readonly StoredObject<K>[],
    principal: Principal,
  ) => Promise<readonly Written<Static<R>>[]>;
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

/**
 * Inside of the functions below the kind is not known, so neither are the types. `Routed` has checked them.
 */
type At<P extends string> = `${P}/:uuid`;

export function readRoutes<K extends RoutedKind, P extends string, R extends Schema>(
  parts: AdminParts,
  { kind, path, returned, show, showAll }: Routed<K, P, R>,
) {
  const shown = async (objects: readonly StoredObject<K>[], principal: Principal) =>
    (await showAll?.(objects, principal)) ?? objects.map((object) => show(object, principal));
  const all = route({
    method: "GET",
    path: path as string,
    summary: `List the ${kind}s`,
    tag: path.slice(1),
    action: "objects.read",
    query: LIST_QUERY,
    answer: listOf(returned as Schema),
    async handle({ query, principal }) {
      const objects = [...parts.control.compiled.objects[kind].values()] as StoredObject<K>[];
      const { items, ...rest } = pageOf(objects, query, { keyOf: ({ uuid }) => uuid, textOf });
      return { body: { items: await shown(items, principal), ...rest } };
    },
  });
  const one = route({
    method: "GET",
    path: `${path as string}/:uuid`,
    summary: `Read one ${kind}`,
    tag: path.slice(1),
    action: "objects.read",
    answer: returned as Schema,
    async handle({ params, principal }) {
      const object = objectAt(parts, kind, params.uuid);
      const [body] = await shown([object], principal);
      return tagged(object, body);
    },
  });
  type List = RouteOf<"GET", P, typeof LIST_QUERY, never, ReturnType<typeof listOf<R>>>;
  return [all as List, one as RouteOf<"GET", At<P>, None, never, R>];
}

const WITH_ARTICLE = { server: "a server", namespace: "a namespace", endpoint: "an endpoint" } as const;

export function createRoute<K extends RoutedKind, P extends string, R extends Schema, N extends Schema>(
  parts: AdminParts,
  { kind, path, returned, created, editedBy, show, check }: Routed<K, P, R, N>,
) {
  return route({
    method: "POST",
    path: path as string,
    summary: `Create ${WITH_ARTICLE[kind]}`,
    tag: path.slice(1),
    action: editedBy,
    query: DRY_RUN,
    body: created as Schema,
    checksBody: true,
    status: 201,
    answer: returned as Schema,
    async handle(request) {
      const done = await change(parts, request, function* (objects, context) {
        const outcome = yield* resultOf(creating(objects, kind, request.body, context));
        if (may(request.principal, "people")) check?.(undefined, outcome.object);
        return outcome;
      });
      if ("dry" in done) return done.dry;
      const { object } = done.outcome;
      const location = `${BASE}${path}/${object.uuid}`;
      return tagged(object, show(object, request.principal), { status: 201, headers: { location } });
    },
  }) as RouteOf<"POST", P, typeof DRY_RUN, N, R>;
}

const CHANGE_QUERY = { ...DRY_RUN, ...TAKE_OVER } as const;

export function patchRoute<K extends RoutedKind, P extends string, R extends Schema, C extends Schema>(
  parts: AdminParts,
  { kind, path, returned, patched, editedBy, show, check }: Routed<K, P, R, Schema, C>,
) {
  return route({
    method: "PATCH",
    path: `${path as string}/:uuid`,
    summary: `Change ${WITH_ARTICLE[kind]}: a JSON Merge Patch`,
    tag: path.slice(1),
    action: editedBy,
    query: CHANGE_QUERY,
    body: patched as Schema,
    checksBody: true,
    answer: returned as Schema,
    async handle(request) {
      const at = { kind, reference: request.params.uuid, ...guardsOf(request) };
      const done = await change(parts, request, function* (objects, context) {
        const outcome = yield* resultOf(patching(objects, at, request.body, context));
        if (may(request.principal, "people")) check?.(find(objects[kind], at.reference), outcome.object);
        return outcome;
      });
      if ("dry" in done) return done.dry;
      return tagged(done.outcome.object, show(done.outcome.object, request.principal));
    },
  }) as RouteOf<"PATCH", At<P>, typeof CHANGE_QUERY, C, R>;
}

const REMOVE_QUERY = { ...CHANGE_QUERY, ...FORCE } as const;

export function removeRoute<K extends RoutedKind, P extends string>(
  parts: AdminParts,
  { kind, path, editedBy }: Pick<Routed<K, P>, "kind" | "path" | "editedBy">,
) {
  // Nothing uses an endpoint, so there is nothing to force.
  const query: typeof REMOVE_QUERY | typeof CHANGE_QUERY = kind === "endpoint" ? CHANGE_QUERY : REMOVE_QUERY;
  return route({
    method: "DELETE",
    path: `${path as string}/:uuid`,
    summary: `Delete ${WITH_ARTICLE[kind]}`,
    tag: path.slice(1),
    action: editedBy,
    query: query as typeof REMOVE_QUERY,
    async handle(request) {
      const { force = false } = request.query;
      const at = { kind, reference: request.params.uuid, force, ...guardsOf(request) };
      const done = await change(parts, request, (objects, context) => remove(objects, at, context));
      return "dry" in done ? done.dry : {};
    },
  }) as RouteOf<"DELETE", At<P>, typeof REMOVE_QUERY, never, never>;
}

function textOf({ name, spec }: StoredObject): string {
  return `${name}\n${"description" in spec ? spec.description : ""}`;
}
