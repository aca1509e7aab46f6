/** Starts a call again after it had to wait, for a permission or in a queue: the next run is judged by the layers of that moment. */
import type { Call, Handler, LayerStep, Trail } from "../kernel/call.ts";
import type { MetaMcpError } from "../kernel/errors.ts";
import { Permissions } from "../kernel/permissions.ts";
import type { Raw } from "../kernel/raw.ts";
import { forbidden, toolOf } from "./refusals.ts";

/** No call needs that many, unless a layer changes its arguments in each run. */
const MAX_PERMISSIONS = 20;

interface Needed {
  /** The same text only for the same call and for people with the same right to permit it. */
  readonly permission: string;
  /** Resolves if the permission is given, rejects with the refusal if not. */
  readonly ask: () => Promise<void>;
}

/** Passes the call to `next` if it has the permission. Otherwise asks for it; the time limits of the call pause meanwhile. */
export async function withPermission(
  call: Call,
  { permission, ask }: Needed,
  next: (call: Call) => Promise<Raw>,
): Promise<Raw> {
  const { permissions } = call;
  if (!permissions) throw forbidden(call, `${toolOf(call)} needs a permission that cannot be given here.`);
  if (permissions.use(permission)) return await next(call);
  if (permissions.count >= MAX_PERMISSIONS)
    throw forbidden(call, `${toolOf(call)}: the layers make another call each time it is permitted.`);
  // Others must not wait for the person too.
  permissions.leavePlaces();
  const release = call.hold?.();
  permissions.isAsking = true;
  try {
    await ask();
  } finally {
    permissions.isAsking = false;
    release?.();
  }
  throw permissions.add(permission);
}

/**
 * For a call that would have to wait for other calls. Returns the error with which its run must end instead, because the
 * call must start again first: under other layers it may not have to wait, and calls with places do not wait.
 */
export function beforeWait({ permissions }: Call): MetaMcpError | undefined {
  if (!permissions?.isCurrent()) return permissions?.startAgain();
  return permissions.hasPlaces ? permissions.startAgain({ keepPlaces: false }) : undefined;
}

/** For a call that has waited. Passes it to `next` if nothing changed meanwhile; otherwise the call starts again. */
export function afterWait(call: Call, next: Handler): Promise<Raw> {
  const { permissions } = call;
  if (!permissions || permissions.isCurrent()) return next(call);
  return Promise.reject(permissions.startAgain());
}

type Run = (permissions: Permissions) => Promise<Raw>;
type Interrupted = Pick<Call, "signal" | "trail">;

/**
 * Runs a call, and runs it again if it must start again. What a run ends with does not matter then: a layer may have
 * turned the error of `startAgain` into something else. This is the hot path of every call.
 */
export function runPermitted(call: Interrupted, run: Run, permissions = new Permissions()): Promise<Raw> {
  return run(permissions).then(
    (result) => (permissions.next() ? runAgain(call, run, permissions) : result),
    (error: unknown) => {
      if (permissions.next()) return runAgain(call, run, permissions);
      throw error;
    },
  );
}

async function runAgain(call: Interrupted, run: Run, permissions: Permissions): Promise<Raw> {
  const { signal, trail } = call;
  const earlier = trail?.layers.splice(0) ?? [];
  if (trail) {
    trail.by = undefined;
    trail.keep = undefined;
  }
  try {
    if (signal.aborted) throw signal.reason;
    return await runPermitted(call, run, permissions);
  } finally {
    permissions.end();
    addTimes(trail, earlier);
  }
}

/** The record of a call shows each layer once, with the time of all runs. */
function addTimes(trail: Trail | undefined, earlier: readonly LayerStep[]): void {
  for (const [at, { use, ms }] of earlier.entries()) {
    const step = trail?.layers[at];
    if (step?.use === use) step.ms += ms;
  }
}
