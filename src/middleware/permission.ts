/**
 * Starts a call again after it had to wait, for a permission or in a queue: the next run is judged by the
 * layers of that moment.
 */
import type { Call, Handler, LayerStep, Trail } from "../kernel/call.ts";
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

/**
 * Passes the call to `next` if it has the permission. Otherwise asks for it; the time limits of the call
 * pause meanwhile.
 */
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
 * For layers in which calls wait for others, before and after the wait. Passes the call to `next` if the
 * layers and the rights of its caller are those of the start of its run; otherwise the call starts again.
 * Before the wait too, because calls of an older order of layers could wait for those of a newer one, and
 * those for them.
 */
export function ifCurrent(call: Call, next: Handler): Promise<Raw> {
  const { permissions } = call;
  if (!permissions || permissions.isCurrent()) return next(call);
  return Promise.reject(permissions.startAgain());
}

type Run = (permissions: Permissions) => Promise<Raw>;
type Interrupted = Pick<Call, "signal" | "trail">;

/**
 * Runs a call, and runs it again if it must start again. What a run ends with does not matter then: a layer
 * may have turned the error of `startAgain` into something else. This is the hot path of every call.
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
    trail.place = undefined;
    trail.keep = undefined;
  }
  if (signal.aborted) throw signal.reason;
  try {
    return await runPermitted(call, run, permissions);
  } finally {
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
