/** Lets a call wait for a permission, and starts it again once it has one: the second run is judged by the layers of that moment. */
import type { Call, LayerStep, Trail } from "../kernel/call.ts";
import { Permissions } from "../kernel/permissions.ts";
import type { Raw } from "../kernel/raw.ts";
import { forbidden, toolOf } from "./refusals.ts";

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
  if (permissions.has(permission)) return await next(call);
  const release = call.hold?.();
  try {
    await ask();
  } finally {
    release?.();
  }
  throw permissions.add(permission);
}

/**
 * Runs a call, and runs it again after each permission that it was given. What a run ends with does not matter then:
 * a layer may have turned the error of `withPermission` into something else.
 */
export function runPermitted(
  { signal, trail }: Pick<Call, "signal" | "trail">,
  run: (permissions: Permissions) => Promise<Raw>,
): Promise<Raw> {
  const permissions = new Permissions();
  const start = (): Promise<Raw> =>
    run(permissions).then(
      (result) => (permissions.takeNew() ? startAgain() : result),
      (error: unknown) => {
        if (permissions.takeNew()) return startAgain();
        throw error;
      },
    );
  const startAgain = async (): Promise<Raw> => {
    if (signal.aborted) throw signal.reason;
    const earlier = trail?.layers.splice(0) ?? [];
    if (trail) trail.by = undefined;
    try {
      return await start();
    } finally {
      addTimes(trail, earlier);
    }
  };
  return start();
}

/** The record of a call shows each layer once, with the time of all runs. */
function addTimes(trail: Trail | undefined, earlier: readonly LayerStep[]): void {
  for (const [at, { use, ms }] of earlier.entries()) {
    const step = trail?.layers[at];
    if (step?.use === use) step.ms += ms;
  }
}
