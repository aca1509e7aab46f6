/**
 * A layer that somebody else wrote, held to what every layer owes: it makes a call at most once and as the same call,
 * where it fails nothing passes and nothing is shown, and nobody waits for it who has given up.
 */
import type { Call, Middleware } from "../kernel/call.ts";
import { type Clock, ManualClock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Principal } from "../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { unlessAborted } from "../kernel/signal.ts";
import { member, members, withMember } from "../rpc/slice.ts";
import type { Layer, LayerContext, LayerKind, LayerRequest, ListRule, RequestMiddleware } from "./layer.ts";
import { sidesProblem } from "./own-sides.ts";

/** What such a layer is given beside its options. */
export interface OwnLayerContext extends Pick<LayerContext, "clock"> {
  /** Refuse with one of these: `throw new MetaMcpError("forbidden", "why")`. Anything else that is thrown is a fault of the layer. */
  readonly MetaMcpError: typeof MetaMcpError;
  /** Reads a JSON value from its bytes. */
  readonly fromRaw: typeof fromRaw;
  /** Writes a JSON value as bytes. */
  readonly toRaw: typeof toRaw;
  /** Members of an object by their names, as bytes. */
  readonly members: typeof members;
  /** The object with another value for a member, or without it; all other bytes stay. */
  readonly withMember: typeof withMember;
}

/** The sides of a layer that somebody else may write. */
export type OwnLayer = Omit<Layer, "limit" | "answers">;

/** What a module exports by default. */
export interface OwnLayerKind extends Omit<LayerKind, "compile"> {
  compile(options: Readonly<Record<string, unknown>>, context: OwnLayerContext): OwnLayer;
}

const LONGEST_FAULT = 300;

export function guardedKind(kind: OwnLayerKind, use: string): LayerKind {
  const made = (options: Readonly<Record<string, unknown>>, clock: Clock): OwnLayer =>
    kind.compile(options, { clock, MetaMcpError, fromRaw, toRaw, members, withMember });
  return {
    ...kind,
    // Compiled once to look at, with a clock that stands: what cannot be compiled must not be saved.
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
    return sidesProblem(compile());
  } catch (error) {
    return `fails: ${String((error as Error).message).slice(0, LONGEST_FAULT)}`;
  }
}

/** Copied along with the rest of a call or request: which one it was given, and whether it passed it on. */
const GIVEN = Symbol("given");

interface Given<T> {
  readonly asked: T;
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
      // It may let go of it: an error that nobody waits for ends the process.
      inside.catch(() => {});
      return inside;
    });
    return async (call) => answered(await unlessAborted(started(handle, marked(call)), call.signal), use);
  };
}

function marked<T>(asked: T): T {
  const given: Given<T> = { asked, passed: false };
  return { ...asked, [GIVEN]: given };
}

/** What a layer may change: the arguments, and time, signal and the way back. Everything else is what rules judge by. */
function changed({ asked: given, passed }: Given<Call>, call: Call): string | undefined {
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

/** It may refuse a request or change its answer. What is asked stays what it was, for whatever it changed. */
function guardedRequest(layer: RequestMiddleware, use: string): RequestMiddleware {
  return (next) => {
    const handle = layer((request: Marked<LayerRequest>) => {
      const given = request[GIVEN];
      if (!given) return Promise.reject(broken(use, "does not pass on the request it was given"));
      if (given.passed) return Promise.reject(broken(use, "passes the request on twice"));
      given.passed = true;
      return next(given.asked);
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

/** What it cannot judge does not exist; whoever it cannot tell apart sees alone. */
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
