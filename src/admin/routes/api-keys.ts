/** Routes for API keys. The text of a key is returned only once, when the key is created. */

import { type ApiKey, isForeignKey } from "../../access/api-key.ts";
import type { NewApiKey } from "../../access/api-keys.ts";
import { type MachineClient, signs } from "../../access/machine-client.ts";
import { may } from "../../access/may.ts";
import { isPublic } from "../../authorization/public-fetch.ts";
import { finderOf } from "../../gateway/names.ts";
import { invalid } from "../../gateway/refusal.ts";
import { type FieldProblem, pointer } from "../../kernel/field-problem.ts";
import { COUNT, object } from "../../kernel/json-schema.ts";
import {
  API_KEY_PATCH,
  KEY_IMPORT,
  KEY_MADE,
  KEY_ROTATION,
  NEW_API_KEY,
  RETURNED_KEY,
} from "../api-key-schemas.ts";
import { pageOf } from "../page.ts";
import { Problem } from "../problem.ts";
import { type AtObject, DRY_RUN, LIST_QUERY, route } from "../route.ts";
import { listOf } from "../schemas.ts";
import { type Caller, maySee } from "./endpoint-use.ts";
import { type AdminParts, dryRun } from "./parts.ts";

type Endpoints = readonly string[] | "all";

export function apiKeyRoutes(parts: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/api-keys",
      summary: "List your API keys; administrators see all",
      tag: "api-keys",
      action: "keys.read",
      query: LIST_QUERY,
      answer: listOf(RETURNED_KEY),
      async handle({ query, principal }) {
        const all = await parts.access.keyControl.list();
        const own = all
          .filter(({ owner }) => may(principal, "keys.read", { owner }))
          .map((key) => shown(parts, key));
        return { body: pageOf(own, query, { keyOf: ({ uuid }) => uuid, textOf: ({ name }) => name }) };
      },
    }),
    createRoute(parts),
    importRoute(parts),
    route({
      method: "PATCH",
      path: "/api-keys/:uuid",
      summary: "Change the name or description of an API key, or the public keys of a machine client",
      tag: "api-keys",
      action: "keys.write",
      query: DRY_RUN,
      body: API_KEY_PATCH,
      answer: RETURNED_KEY,
      async handle(request) {
        const key = await keyAt(parts, request);
        refuseOtherMachine(request, key);
        if (request.query.dryRun) return dryRun("update", "api-key", key.name);
        const changed = await parts.access.keyControl.change(key.id, request.body);
        if (!changed) throw noKey(key.id);
        return { body: shown(parts, changed) };
      },
    }),
    rotateRoute(parts),
    route({
      method: "DELETE",
      path: "/api-keys/:uuid",
      summary: "Revoke an API key. Its sessions and streams end",
      tag: "api-keys",
      action: "keys.write",
      query: DRY_RUN,
      async handle(request) {
        const key = await keyAt(parts, request);
        if (request.query.dryRun) return dryRun("delete", "api-key", key.name);
        if (!(await parts.access.keyControl.revoke(key.id))) throw noKey(key.id);
        return {};
      },
    }),
  ];
}

function createRoute(parts: AdminParts) {
  return route({
    method: "POST",
    path: "/api-keys",
    summary:
      "Create an API key for endpoints, or with a role for this API. The key is returned only this once",
    tag: "api-keys",
    action: "keys.write",
    query: DRY_RUN,
    body: NEW_API_KEY,
    status: 201,
    answer: KEY_MADE,
    async handle(request) {
      const { owner: named, ...sent } = request.body;
      const days = parts.control.compiled.settings?.spec.keyLifetimeDays;
      const wrong = keyProblems(parts, sent, days);
      const endpoints =
        sent.endpoints && endpointsOf(parts, request, { named: sent.endpoints, path: "/endpoints" }, wrong);
      const owner = ownerOf(parts, request, named, wrong);
      if (wrong.length > 0) throw invalid(wrong);
      refuseWider(request, { owner, role: sent.role });
      if (sent.machine) refuseMachine(request);
      if (request.query.dryRun) return dryRun("create", "api-key", sent.name);
      const expiresAt =
        sent.expiresAt ?? (days === undefined ? undefined : lastTime(parts, days).toISOString());
      const limits = {
        ...(endpoints && { endpoints }),
        ...(owner === undefined ? {} : { owner }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      };
      const { key, ...made } = await parts.access.keyControl.create({ ...sent, ...limits });
      const secret = made.machine && signs(made.machine) ? {} : { key };
      return { status: 201, body: { ...shown(parts, made), ...secret } };
    },
  });
}

const HOUR_MS = 3_600_000;

function rotateRoute(parts: AdminParts) {
  return route({
    method: "POST",
    path: "/api-keys/:uuid/rotate",
    summary:
      "Give an API key a new text. The former one is valid for a while, so that clients can change over",
    tag: "api-keys",
    action: "keys.write",
    query: DRY_RUN,
    body: KEY_ROTATION,
    answer: KEY_MADE,
    async handle(request) {
      const { id, name, ...known } = await keyAt(parts, request);
      refuseWider(request, known);
      if (known.machine && signs(known.machine))
        throw new Problem(409, "this machine client has no secret: change its public keys instead");
      if (request.query.dryRun) return dryRun("update", "api-key", name);
      const { keys, keyControl } = parts.access;
      // The former text does not live longer by it, and one that is too old does not live again.
      const end = Date.parse(keys.expiryOf(known) ?? "") || Number.POSITIVE_INFINITY;
      const until = Math.min(end, keyControl.now() + request.body.overlapHours * HOUR_MS);
      const rotated = await keyControl.rotate(id, until);
      if (!rotated) throw noKey(id);
      request.recordChanges([{ action: "rotate", object: { kind: "api-key", uuid: id, name } }]);
      const { key, ...made } = rotated;
      return { body: { ...shown(parts, made), key } };
    },
  });
}

function keyProblems(
  parts: AdminParts,
  { endpoints, role, tiers, machine, expiresAt }: NewApiKey,
  days: number | undefined,
): FieldProblem[] {
  const wrong: FieldProblem[] = [];
  if ((endpoints === undefined) === (role === undefined))
    wrong.push({ path: "", message: "must have either endpoints or role" });
  if (tiers && role) wrong.push({ path: "/tiers", message: "only applies to keys for endpoints" });
  if (machine && role) wrong.push({ path: "/machine", message: "only applies to keys for endpoints" });
  if (machine) wrong.push(...machineProblems(machine));
  if (expiresAt !== undefined && !(Date.parse(expiresAt) > parts.access.keyControl.now()))
    wrong.push({ path: "/expiresAt", message: "must be a time in the future" });
  if (
    expiresAt !== undefined &&
    days !== undefined &&
    Date.parse(expiresAt) > lastTime(parts, days).getTime()
  )
    wrong.push({
      path: "/expiresAt",
      message: `must be at most ${days} days from now: keys are limited to that`,
    });
  return wrong;
}

function machineProblems({ jwks, jwksUri }: MachineClient): FieldProblem[] {
  if (jwks && jwksUri !== undefined)
    return [{ path: "/machine", message: "must have either jwks or jwksUri" }];
  if (jwksUri === undefined || (URL.canParse(jwksUri) && isPublic(new URL(jwksUri)))) return [];
  return [{ path: "/machine/jwksUri", message: "must be an https URL at a public address" }];
}

/** Other public keys for a client that signs. It keeps its way to prove itself. */
function refuseOtherMachine(
  { body: { machine }, ...caller }: Caller & { readonly body: { readonly machine?: MachineClient } },
  known: ApiKey,
): void {
  if (!machine) return;
  refuseMachine(caller);
  const wrong = machineProblems(machine);
  if (!known.machine || signs(machine) !== signs(known.machine))
    wrong.push({ path: "/machine", message: "can only replace the public keys of a machine client" });
  if (wrong.length > 0) throw invalid(wrong);
}

function refuseMachine({ principal }: Caller): void {
  if (!may(principal, "people"))
    throw new Problem(403, "only administrators can create and change machine clients");
}

/** The last time that the settings allow a new key to be valid. */
function lastTime({ access }: AdminParts, days: number): Date {
  return new Date(access.keyControl.now() + days * 24 * 60 * 60_000);
}

/**
 * An administrator may name the owner or create a key without owner. For everybody else the owner is their
 * own account.
 */
function ownerOf(
  { access: { accounts } }: AdminParts,
  { principal, account }: Caller,
  named: string | undefined,
  wrong: FieldProblem[],
): string | undefined {
  if (named === undefined) return may(principal, "people") ? undefined : account?.uuid;
  const found = accounts.byId(named) ?? accounts.byEmail(named);
  // A caller who may not see accounts must not find out whether one exists.
  if (!found && may(principal, "people")) wrong.push({ path: "/owner", message: "is not an account" });
  return found?.uuid ?? named;
}

/**
 * A key must not create keys, because those would not have its limits. Keys of administrators may, as they
 * have all rights.
 */
function refuseWider({ principal }: Caller, key: Pick<NewApiKey, "owner" | "role">): void {
  if (!may(principal, "keys.write", key))
    throw new Problem(403, "you can only create keys for yourself, with at most your own role");
  if (principal.key && !may(principal, "people"))
    throw new Problem(403, "a key cannot create keys: log in to create one");
}

/** Returns the key in the path. A key that the caller may not see gives the same 404 as an unknown key. */
async function keyAt({ access }: AdminParts, { params, principal }: Caller & AtObject): Promise<ApiKey> {
  const id = params.uuid.toLowerCase();
  const key = (await access.keyControl.list()).find((one) => one.id === id);
  if (!key || !may(principal, "keys.write", { owner: key.owner })) throw noKey(id);
  return key;
}

function noKey(id: string): Problem {
  return new Problem(404, `there is no key "${id.slice(0, 64)}"`);
}

/** Imports keys of the older MetaMCP, so that its clients can keep their keys. */
function importRoute(parts: AdminParts) {
  return route({
    method: "POST",
    path: "/api-keys/import",
    summary: "Import keys of an older MetaMCP (sk_mt_…), so that its clients can keep them",
    tag: "api-keys",
    action: "settings",
    query: DRY_RUN,
    body: KEY_IMPORT,
    answer: object({ imported: COUNT }),
    async handle(request) {
      const wrong: FieldProblem[] = [];
      const imports = request.body.keys.map(({ uuid, name, key, endpoints }, at) => {
        if (!isForeignKey(key))
          wrong.push({ path: pointer("/keys", at, "key"), message: "must be a key that begins with sk_mt_" });
        const path = pointer("/keys", at, "endpoints");
        const opened = endpointsOf(parts, request, { named: endpoints, path }, wrong);
        return { id: uuid, name, text: key, endpoints: opened };
      });
      if (wrong.length > 0) throw invalid(wrong);
      if (request.query.dryRun) return dryRun("create", "api-key", ...imports.map(({ name }) => name));
      await parts.access.keyControl.takeOver(imports);
      return { body: { imported: imports.length } };
    },
  });
}

/** Resolves references to uuids. An endpoint that the caller may not see counts as unknown. */
function endpointsOf(
  { control }: AdminParts,
  caller: Caller,
  { named, path }: { readonly named: Endpoints; readonly path: string },
  wrong: FieldProblem[],
): Endpoints {
  if (named === "all") return named;
  const find = finderOf(control.compiled.objects.endpoint);
  return named.map((reference, at) => {
    const known = find(reference);
    const found = known && maySee(known, caller) ? known : undefined;
    const message = `there is no endpoint "${reference.slice(0, 128)}"`;
    if (!found) wrong.push({ path: pointer(path, at), message });
    return found?.uuid ?? reference;
  });
}

function shown(
  { access }: AdminParts,
  { id, ...key }: ApiKey,
): Omit<ApiKey, "id"> & { readonly uuid: string } {
  const expiresAt = access.keys.expiryOf(key);
  return { uuid: id, ...key, ...(expiresAt === undefined ? {} : { expiresAt }) };
}
