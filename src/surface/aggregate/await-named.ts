/**
 * Waits for a tool or prompt name that is in no known list, while a server whose list is not known could have
 * it. Starts only such servers.
 */
import type { Item } from "../../catalog/item.ts";
import type { Origin, ServerId } from "../../kernel/call.ts";
import type { Raw } from "../../kernel/raw.ts";
import { afterLogin } from "../account-login.ts";
import type { ScopeCalls, ScopeCatalog } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import type { MergedList } from "./merged-list.ts";
import { mayBelongTo, withoutPrefix } from "./names.ts";

/** Longest wait for a connected server to list its prompts. */
const LIST_WAIT_MS = 3_000;

export interface NamedItem<T extends Item> {
  readonly kind: "tools" | "prompts";
  readonly name: string;
  readonly merged: MergedList<T>;
}

/**
 * Runs `use` as soon as the name is known. Connections opened for this stay open until `use` has ended. `use`
 * gets undefined if no server has the name. Rejects if the name was not found and a server that might have it
 * failed.
 */
export async function awaitNamed<T extends Item>(
  scope: ScopeCatalog & ScopeCalls,
  wanted: NamedItem<T>,
  request: ClientRequest,
  use: (item: T | undefined) => Promise<Raw>,
): Promise<Raw> {
  await scope.view(request.origin).loadCached();
  const cached = lookUp(wanted);
  if (cached) return await use(cached);
  let release = (): void => {};
  const used = new Promise<void>((resolve) => {
    release = resolve;
  });
  const find = async (): Promise<T | undefined> => {
    const failures = await askCandidates(scope, wanted, request, used);
    const item = lookUp(wanted);
    const [first, ...others] = failures;
    if (item || !first) return item;
    if (others.length === 0) recordTarget(scope, first.server, wanted, request);
    throw first.error;
  };
  try {
    return await use(scope.login ? await afterLogin(scope, request, find) : await find());
  } finally {
    release();
  }
}

const lookUp = <T extends Item>({ merged, name }: NamedItem<T>): T | undefined => merged.list.get(name);

/** The call was for the only server that might have the name, although its tools are not known. */
function recordTarget<T extends Item>(
  scope: ScopeCatalog & ScopeCalls,
  server: ServerId,
  { name }: NamedItem<T>,
  { origin, trail }: ClientRequest,
): void {
  const prefix = scope.specs().get(server)?.prefix ?? "";
  if (trail) trail.target ??= scope.target(server, withoutPrefix(server, prefix, name), origin);
}

interface Failure {
  readonly server: ServerId;
  readonly error: unknown;
}

/**
 * Resolves with the failures, when the name is known or all candidates have answered. Rejects if the request
 * is cancelled.
 */
function askCandidates<T extends Item>(
  scope: ScopeCatalog & ScopeCalls,
  wanted: NamedItem<T>,
  { origin, signal }: ClientRequest,
  used: Promise<void>,
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  const ask = async (server: ServerId): Promise<void> => {
    try {
      const lease = await scope.connect(server, origin);
      void used.then(() => lease.release());
      if (wanted.kind !== "tools")
        await scope.loader.loadMissing([server], origin, LIST_WAIT_MS, wanted.kind);
    } catch (error) {
      failures.push({ server, error });
    }
  };
  return new Promise((resolve, reject) => {
    const stop = scope.view(origin).onChange(() => {
      if (lookUp(wanted)) end();
    });
    const onAbort = (): void => {
      stop();
      reject(signal.reason as Error);
    };
    function end(): void {
      stop();
      signal.removeEventListener("abort", onAbort);
      resolve(failures);
    }
    signal.addEventListener("abort", onAbort);
    void Promise.all(candidates(scope, wanted, origin).map(ask)).then(end);
    if (signal.aborted) onAbort();
  });
}

/**
 * Servers that may have the name and whose current list is not known. A list from the disk cache, from before
 * a disconnect, or for other clients may be outdated. A server that does not exist for the client is not
 * started, and its failure is not told.
 */
function candidates<T extends Item>(
  scope: ScopeCatalog & ScopeCalls,
  { kind, name }: NamedItem<T>,
  origin: Origin,
): readonly ServerId[] {
  const view = scope.view(origin);
  return [...scope.specs()].flatMap(([server, { prefix }]) => {
    const current = scope.connected(server, origin) && view.knows(server, kind);
    return !current && mayBelongTo(server, prefix, name) && scope.has(server, origin) ? [server] : [];
  });
}
