/** Waits for a name that no server known so far has, as long as one that is not known yet could have it. Starts only those. */
import type { Item } from "../../catalog/item.ts";
import type { Origin, ServerId } from "../../kernel/call.ts";
import type { Raw } from "../../kernel/raw.ts";
import { afterLogin } from "../own-login.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import type { MergedList } from "./merged-list.ts";
import { mayBeOf } from "./names.ts";

/** How long a connected server may take to list its prompts before a caller goes on without them. */
const LIST_MS = 3_000;

export interface NamedItem<T extends Item> {
  readonly kind: "tools" | "prompts";
  readonly name: string;
  readonly shelf: MergedList<T>;
}

/**
 * Runs `use` as soon as the name is known; what was connected for it stays so meanwhile. `use` gets undefined where
 * nobody has that name; rejects with why a server could not be asked that might have had it.
 */
export async function awaitNamed<T extends Item>(
  scope: Scope,
  wanted: NamedItem<T>,
  request: ClientRequest,
  use: (item: T | undefined) => Promise<Raw>,
): Promise<Raw> {
  await scope.view(request.origin).loadCached();
  const cached = look(wanted);
  if (cached) return await use(cached);
  let over = (): void => {};
  const used = new Promise<void>((resolve) => {
    over = resolve;
  });
  const seek = async (): Promise<T | undefined> => {
    const failures = await found(scope, wanted, request, used);
    const item = look(wanted);
    if (!item && failures.length > 0) throw failures[0];
    return item;
  };
  try {
    return await use(scope.login ? await afterLogin(scope, request, seek) : await seek());
  } finally {
    over();
  }
}

const look = <T extends Item>({ shelf, name }: NamedItem<T>): T | undefined => shelf.list.get(name);

/** Resolves once it is there or nobody is left who could bring it, with what went wrong. Rejects if the caller gives up. */
function found<T extends Item>(
  scope: Scope,
  wanted: NamedItem<T>,
  { origin, signal }: ClientRequest,
  used: Promise<void>,
): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  const ask = async (server: ServerId): Promise<void> => {
    try {
      const lease = await scope.connect(server, origin);
      void used.then(() => lease.release());
      if (wanted.kind !== "tools") await scope.loader.learn([server], origin, LIST_MS, wanted.kind);
    } catch (error) {
      failures.push(error);
    }
  };
  return new Promise((resolve, reject) => {
    const stop = scope.view(origin).onChange(() => {
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
    void Promise.all(candidates(scope, wanted, origin).map(ask)).then(end);
    if (signal.aborted) onAbort();
  });
}

/** Servers whose own word is missing: a list from an earlier run, from before it was disconnected, or of other clients may be another. */
function candidates<T extends Item>(
  scope: Scope,
  { kind, name }: NamedItem<T>,
  origin: Origin,
): readonly ServerId[] {
  const view = scope.view(origin);
  return [...scope.specs()].flatMap(([server, { prefix }]) => {
    const told = scope.connected(server, origin) && view.knows(server, kind);
    return !told && mayBeOf(server, prefix, name) ? [server] : [];
  });
}
