/**
 * Guards a layer that the operator wrote: the layer makes a call at most once and cannot turn it into another
 * call. If it fails, no call passes and no tool is shown. A caller who cancels does not wait for it.
 */
import type { Call, Middleware } from "../kernel/call.ts";
import { type Clock, ManualClock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Principal } from "../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { unlessAborted } from "../kernel/signal.ts";
import { member, members, withMember } from "../rpc/slice.ts";
import { shapeProblem } from "./custom-layer-shape.ts";
import type { Layer, LayerContext, LayerKind, LayerRequest, ListRule, RequestMiddleware } from "./layer.ts";

/** What `compile` of such a layer gets beside the options. */
export interface CustomLayerContext extends Pick<LayerContext, "clock"> {
  /**
   * To refuse a call: `throw new MetaMcpError("forbidden", "why")`. Any other error counts as a fault of the
   * layer.
   */
  readonly MetaMcpError: typeof MetaMcpError;
  /** Parses the bytes of a JSON value. */
  readonly fromRaw: typeof fromRaw;
  /** Serializes a JSON value to bytes. */
  readonly toRaw: typeof toRaw;
  /** Returns the bytes of members of an object, by name. */
  readonly members: typeof members;
  /** Returns the object with another value for a member, or without that member. All other bytes stay. */
  readonly withMember: typeof withMember;
}

/** The functions that such a layer may have. */
export type CustomLayer = Omit<Layer, "limit" | "answers">;

/** The default export of a module. */
export interface CustomLayerKind extends Omit<LayerKind, "compile"> {
  compile(options: Readonly<Record<string, unknown>>, context: CustomLayerContext): CustomLayer;
}

const LONGEST_FAULT = 300;

export function guardedKind(kind: CustomLayerKind, use: string): LayerKind {
  const made = (options: Readonly<Record<string, unknown>>, clock: Clock): CustomLayer =>
    kind.compile(options, { clock, MetaMcpError, fromRaw, toRaw, members, withMember });
  return {
    ...kind,
    // Compiles once with a clock that does not move, only to check: an entry that cannot be compiled must not
    // be stored.
    check(options) {
      const problems = kind.check?.(options) ?? [];
      if (problems.length > 0) return problems;
      const fault = compileProblem(() => made(options, new ManualClock()));
      return fault === undefined ? [] : [{ path: "/use", message: `its compile ${fault}` }];
    },
    compile(options, { clock }) {
      const layer = made(options, clock);
      const { request, call, list } = layer;
      const own: Layer = {
        ...(request && { request: guardedRequest(request.bind(layer), use) }),
        ...(call && { call: guardedCall(call.bind(layer), use) }),
        ...(list && { list: guardedList(list) }),
        ...(layer.hidesOwn && {
          hidesOwn: (...asked) => failClosed(() => layer.hidesOwn?.(...asked) ?? false, true),
        }),
        ...(layer.gates && { gates: (...asked) => failClosed(() => layer.gates?.(...asked), undefined) }),
        ...(layer.explain && { explain: (asked) => layer.explain?.(asked) }),
      };
      return own;
    },
  };
}

function compileProblem(compile: () => unknown): string | undefined {
  try {
    return shapeProblem(compile());
  } catch (error) {
    return `fails: ${String((error as Error).message).slice(0, LONGEST_FAULT)}`;
  }
}

/**
 * A mark in the call or request that the layer gets. It is copied with the object, so it tells which one the
 * layer passes on.
 */
const GIVEN = Symbol("given");

interface Given<T> {
  readonly original: T;
  passed: boolean;
}

type Marked<T> = T & { readonly [GIVEN]?: Given<T> };

function guardedCall(layer: Middleware, use: string): Middleware {
  return (next) => {
    const handle = layer((call: Marked<Call>) => {
      const given = call[GIVEN];
      const fault = given ? changed(given, call) : "does not pass on the call it was given";
      if (fault !== undefined || !given) return Promise.reject(broken(use, fault ?? ""));
      given.passed = true;
      const { [GIVEN]: _, ...plain } = call;
      const inside = next(plain);
      // The layer may ignore this promise, and an unhandled rejection would end the process.
      inside.catch(() => {});
      return inside;
    });
    return async (call) => answered(await unlessAborted(started(handle, marked(call)), call.signal), use);
  };
}

function marked<T>(original: T): T {
  const given: Given<T> = { original, passed: false };
  return { ...original, [GIVEN]: given };
}

/**
 * What the layer did wrong. It may change arguments, deadline, signal and uplink. Other layers judge by
 * everything else.
 */
function changed({ original: given, passed }: Given<Call>, call: Call): string | undefined {
  if (passed) return "makes the call twice";
  if (call.origin !== given.origin) return "changes the caller";
  const same =
    call.server === given.server &&
    call.method === given.method &&
    call.tool === given.tool &&
    call.facts === given.facts &&
    call.permissions === given.permissions &&
    (call.params === given.params || nameIn(call.params) === nameIn(given.params));
  if (!same) return "turns it into another call";
  return call.deadline <= given.deadline ? undefined : "extends the time of the call";
}

function nameIn(params: Raw): string {
  const name = member(params, "name");
  return name?.toString() ?? "";
}

/**
 * The layer may refuse a request or change its answer. Layers inside get the original request, even if this
 * layer changed it.
 */
function guardedRequest(layer: RequestMiddleware, use: string): RequestMiddleware {
  return (next) => {
    const handle = layer((request: Marked<LayerRequest>) => {
      const given = request[GIVEN];
      if (!given) return Promise.reject(broken(use, "does not pass on the request it was given"));
      if (given.passed) return Promise.reject(broken(use, "passes the request on twice"));
      given.passed = true;
      return next(given.original);
    });
    return async (request) =>
      answered(await unlessAborted(started(handle, marked(request)), request.signal), use);
  };
}

async function started<T>(handle: (given: T) => Promise<Raw>, given: T): Promise<Raw> {
  return await handle(given);
}

function answered(result: unknown, use: string): Raw {
  if (Buffer.isBuffer(result)) return result as Raw;
  throw broken(use, "does not return the bytes of a JSON value");
}

function broken(use: string, fault: string): MetaMcpError {
  return new MetaMcpError("internal", `The layer "${use}" ${fault}, so the call was refused.`);
}

/** If a rule throws, the tool is hidden. If `keyOf` throws, the principal shares its list with nobody. */
function guardedList(list: ListRule): ListRule {
  const keyOf = (principal: Principal): string =>
    failClosed(() => String(list.keyOf?.(principal) ?? ""), principal.id);
  return {
    ...(list.keyOf && { keyOf }),
    hides: (tool, principal) => failClosed(() => list.hides(tool, principal), "the layer failed"),
    ...(list.hidesFromAll && {
      hidesFromAll: (tool) => failClosed(() => list.hidesFromAll?.(tool), "the layer failed"),
    }),
  };
}

function failClosed<T>(judge: () => T, otherwise: T): T {
  try {
    return judge();
  } catch {
    return otherwise;
  }
}
