/** Decides which session ends if there is no room for a new one. Pure. */

export interface OpenSession {
  /** Whoever opened it. */
  readonly owner: string;
  /** Milliseconds since its client was last active. 0 while it has an open stream. */
  readonly idleMs: number;
  /** Its client waits for an answer. */
  readonly busy: boolean;
}

/**
 * A session without a stream that was idle for so long probably has no client: many clients leave without
 * ending it.
 */
export const DEAD_MS = 60_000;

/** The dead session that was idle for longest, the caller's own first. */
export function deadSession<S extends OpenSession>(sessions: readonly S[], caller: string): S | undefined {
  const dead = sessions.filter(({ idleMs, busy }) => !busy && idleMs >= DEAD_MS);
  return ownIdleSession(dead, caller) ?? idlest(dead);
}

/** The caller's own session that was idle for longest, if any is idle. */
export function ownIdleSession<S extends OpenSession>(sessions: readonly S[], caller: string): S | undefined {
  return idlest(sessions.filter(({ owner, idleMs, busy }) => owner === caller && idleMs > 0 && !busy));
}

/**
 * A caller gets a place of the owner with most sessions, if that owner then still has as many. Sessions of
 * busy clients do not end.
 */
export function sharedSession<S extends OpenSession>(sessions: readonly S[], caller: string): S | undefined {
  const owned = new Map<string, S[]>();
  for (const session of sessions) {
    const own = owned.get(session.owner);
    if (own) own.push(session);
    else owned.set(session.owner, [session]);
  }
  const most = [...owned.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
  const own = owned.get(caller)?.length ?? 0;
  return most.length > own + 1 ? idlest(most.filter(({ busy }) => !busy)) : undefined;
}

/** Of equally idle ones the oldest, which comes first. */
function idlest<S extends OpenSession>(sessions: readonly S[]): S | undefined {
  return sessions.reduce<S | undefined>(
    (found, one) => (found && found.idleMs >= one.idleMs ? found : one),
    undefined,
  );
}
