/** Waits for a name that no server known so far has, as long as one that is not known yet could have it. Starts only those. */
import type { Item } from "../../catalog/item.ts";
import type { ServerId } from "../../kernel/call.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { ClientRequest } from "../face.ts";
import type { Scope } from "../scope.ts";
import { mayBeOf } from "./names.ts";
import type { Shelf } from "./shelf.ts";

/** How long a connected server may take to list its prompts before a caller goes on without them. */
const LIST_MS = 3_000;

export interface Wanted<T extends Item> {
  readonly kind: "tools" | "prompts";
  readonly name: string;
  readonly shelf: Shelf<T>;
}

/**
 * Runs `use` as soon as the name is known; what was connected for it stays so meanwhile. `use` gets undefined where
 * nobody has that name; rejects with why a server could not be asked that might have had it.
 */
export async function awaitNamed<T extends Item>(
  scope: Scope,
  wanted: Wanted<T>,
  request: ClientRequest,
  use: (item: T | undefined) => Promise<Raw>,
): Promise<Raw> {
  await scope.catalog.loadCached();
  const cached = look(wanted);
  if (cached) return await use(cached);
  let over = (): void => {};
  const used = new Promise<void>((resolve) => {
    over = resolve;
  });
  try {
    const failures = await found(scope, wanted, request, used);
    const item = look(wanted);
    if (!item && failures.length > 0) throw failures[0];
    return await use(item);
  } finally {
    over();
  }
}

const look = <T extends Item>({ shelf, name }: Wanted<T>): T | undefined => shelf.list.get(name);

/** Resolves once it is there or nobody is left who could bring it, with what went wrong. Rejects if the caller gives up. */
function found<T extends Item>(
  scope: Scope,
  wanted: Wanted<T>,
  { origin, signal }: ClientRequest,
  used: Promise<void>,
): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  const ask = async (server: ServerId): Promise<void> => {
    try {
      const lease = await scope.connect(server, origin);
      void used.then(() => lease.release());
      if (wanted.kind !== "tools") await scope.learner.learn([server], origin, LIST_MS, wanted.kind);
    } catch (error) {
      failures.push(error);
    }
  };
  return new Promise((resolve, reject) => {
    const stop = scope.catalog.onChange(() => {
      if (look(wanted)) end();
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
    void Promise.all(candidates(scope, wanted).map(ask)).then(end);
    if (signal.aborted) onAbort();
  });
}

/** Servers whose own word is missing: a list from an earlier run, or from before it was disconnected, may be out of date. */
function candidates<T extends Item>(scope: Scope, { kind, name }: Wanted<T>): readonly ServerId[] {
  const connected = new Set(scope.servers().flatMap((status) => (status.connected ? [status.name] : [])));
  return [...scope.specs()].flatMap(([server, { prefix }]) => {
    const told = connected.has(server) && scope.catalog.knows(server, kind);
    return !told && mayBeOf(server, prefix, name) ? [server] : [];
  });
}
