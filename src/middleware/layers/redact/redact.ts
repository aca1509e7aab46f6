/**
 * Layer `redact`: masks or blocks secrets and personal data, in arguments and in everything that a child
 * sends back.
 */

import { withinTime } from "../../../catalog/within-time.ts";
import type { Aside, Call, Uplink } from "../../../kernel/call.ts";
import { MetaMcpError } from "../../../kernel/errors.ts";
import { isOtherMethod } from "../../../kernel/methods.ts";
import { LARGE_BYTES, ownTurn } from "../../../kernel/own-turn.ts";
import { EMPTY_OBJECT, type Raw, toRaw } from "../../../kernel/raw.ts";
import { RpcError } from "../../../rpc/rpc-error.ts";
import { entries, joinObject, member, withMember } from "../../../rpc/slice.ts";
import type { LayerKind } from "../../layer.ts";
import { forbidden } from "../../refusals.ts";
import { withTaskRequest } from "../../task-request.ts";
import { compiledSize, customDetector, loadPatterns, patternProblem } from "./custom-patterns.ts";
import { DETECTORS, type Detector } from "./detectors.ts";
import { finish, finishLater, type Masked, type MaskOptions, maskedText, masking } from "./mask.ts";

type Detect = string | { readonly name: string; readonly pattern: string };

interface Options {
  readonly detect: readonly Detect[];
  readonly in: readonly ("arguments" | "results")[];
  readonly action: "mask" | "block";
}

/** Larger values are searched in steps. */
const SMALL = 4_096;
/**
 * Notifications must be masked at once, to keep their order. Larger values in them are not searched, and so
 * not shown.
 */
const LARGEST_NOW = 65_536;
const NOW_MS = 500;
const TOO_LARGE = toRaw("[too large to be checked]");
const NAMES = Object.keys(DETECTORS);
const LONGEST_PATTERN = 1_000;
/** Of all patterns together, so that they are compiled in some milliseconds. */
const LARGEST_PATTERNS = 10_000;

export const redact: LayerKind = {
  summary: "Mask or block secrets and personal data in arguments and results.",
  guards: true,
  mayBeInside: true,
  schema: {
    properties: {
      detect: {
        type: "array",
        minItems: 1,
        maxItems: 200,
        description: "what to look for: known kinds, or your own patterns",
        items: {
          anyOf: [
            { enum: NAMES },
            {
              type: "object",
              properties: {
                name: { type: "string", pattern: "^[\\w-]{1,40}$" },
                pattern: { type: "string", minLength: 1, maxLength: LONGEST_PATTERN },
              },
              required: ["name", "pattern"],
              additionalProperties: false,
            },
          ],
          description: `one of ${NAMES.join(", ")}, or { name, pattern }`,
        },
      },
      in: {
        type: "array",
        minItems: 1,
        items: { enum: ["arguments", "results"] },
        default: ["arguments", "results"],
        description: "where to look",
      },
      action: {
        enum: ["mask", "block"],
        default: "mask",
        description: "mask what is found, or refuse the call or its result",
      },
    },
    required: ["detect"],
  },
  load: (options) => (detectOf(options).some((one) => typeof one !== "string") ? loadPatterns() : undefined),
  check: (options) => {
    const patterns = detectOf(options).flatMap((one) => (typeof one === "string" ? [] : one.pattern));
    if (patterns.reduce((sum, pattern) => sum + compiledSize(pattern), 0) > LARGEST_PATTERNS)
      return [{ path: "/detect", message: "has too large patterns: use fewer, or smaller numbers in { }" }];
    return detectOf(options).flatMap((one, at) => {
      const message = typeof one === "string" ? undefined : patternProblem(one.pattern);
      return message === undefined ? [] : [{ path: `/detect/${at}/pattern`, message }];
    });
  },
  compile(given) {
    const { detect, in: where, action } = given as unknown as Options;
    const detectors = detect.map(detectorOf);
    const options: MaskOptions = {
      detectors,
      least: Math.min(...detectors.map(({ least = 0 }) => least)),
      secretNames: detect.includes("secrets"),
      watched: detect.some((one) => typeof one !== "string"),
    };
    const [out, back] = [where.includes("arguments"), where.includes("results")];
    const clean = async (raw: Raw): Promise<Masked> => {
      if (raw.length <= SMALL) return finish(masking(raw, options));
      // The turn in which a large message arrived has done enough.
      if (raw.length >= LARGE_BYTES) await ownTurn();
      return await finishLater(masking(raw, options), options);
    };
    /** With `block`: rejects if something is found. */
    const cleaned = async (call: Call, raw: Raw, what: "arguments" | "results"): Promise<Raw> => {
      const masked = await clean(raw);
      if (action === "mask" || masked.found.size === 0) return masked.raw;
      throw forbidden(
        call,
        `The ${what} contain data that is not allowed here: ${[...masked.found].join(", ")}.`,
      );
    };
    return {
      ...(out && { masks: (args: Raw) => maskedNow(args, options) }),
      async explain(call) {
        if (!out) return undefined;
        const found = new Set<string>();
        const sent = await withArguments(call, async (args) => {
          const masked = await clean(args);
          for (const name of masked.found) found.add(name);
          return masked.raw;
        });
        if (found.size === 0) return undefined;
        const reason = `the arguments contain ${[...found].join(", ")}`;
        return action === "block" ? { effect: "deny", reason } : { effect: "change", reason, call: sent };
      },
      call: (next) => async (call) => {
        const sent = out ? await withArguments(call, (args) => cleaned(call, args, "arguments")) : call;
        // A client without capabilities is never asked.
        const answer =
          out && call.origin.capabilities.length > 2
            ? (raw: Raw) => cleaned(call, raw, "arguments")
            : undefined;
        if (!back) return await next(answer ? { ...sent, uplink: cleanAnswers(call.uplink, answer) } : sent);
        const cleanNow = (raw: Raw): Raw => maskedNow(raw, options);
        const asked = answer ? cleanAnswers(call.uplink, answer) : call.uplink;
        let result: Raw;
        try {
          result = await next({
            ...sent,
            uplink: cleanUplink(asked, cleaning(cleanNow), clean),
            aside: cleaningAside(call.aside, cleaning(cleanNow)),
            task: cleanTask(call.task, cleanNow),
          });
        } catch (error) {
          throw await cleanError(error, options);
        }
        return await cleaned(call, result, "results");
      },
    };
  },
};

function detectOf(options: Readonly<Record<string, unknown>>): readonly Detect[] {
  return options["detect"] as readonly Detect[];
}

function detectorOf(one: Detect): Detector {
  return typeof one === "string" ? (DETECTORS[one] as Detector) : customDetector(one.name, one.pattern);
}

/**
 * Replaces the values that a client sends: the arguments of tools and prompts, those of a completion, and all
 * params of methods that are unknown.
 */
async function withArguments(call: Call, clean: (raw: Raw) => Promise<Raw>): Promise<Call> {
  if (isOtherMethod(call.method)) {
    const masked = await clean(call.params);
    return masked === call.params ? call : { ...call, params: masked };
  }
  const names = call.method === "completion/complete" ? ["argument", "context"] : ["arguments"];
  let { params } = call;
  for (const name of names) {
    const given = member(params, name);
    const masked = given && (await clean(given));
    if (masked !== given) params = withMember(params, name, masked);
  }
  return params === call.params ? call : { ...call, params };
}

type Clean = (method: string, params: Raw | undefined) => Raw | undefined;

function cleaning(clean: (raw: Raw) => Raw): Clean {
  return (method, params) => {
    if (!params) return undefined;
    // The progress token is from the client and must stay unchanged.
    const token = method === "notifications/progress" ? member(params, "progressToken") : undefined;
    const masked = clean(params);
    return token && masked !== params ? withMember(masked, "progressToken", token) : masked;
  };
}

/** Masks a message, then passes it to `outer`. */
function cleaningAside(outer: Aside | undefined, shown: Clean): Aside {
  return (method, params) => {
    const left = shown(method, params);
    return outer ? outer(method, left) : left;
  };
}

function cleanUplink(uplink: Uplink, shown: Clean, clean: (raw: Raw) => Promise<Masked>): Uplink {
  return {
    notify: (method, params) => uplink.notify(method, shown(method, params)),
    request: async (method, params, ...more) =>
      await uplink.request(method, params && (await clean(params)).raw, ...more),
  };
}

/**
 * What a person or a model at the client answers to a question of the server goes to the server like an
 * argument.
 */
function cleanAnswers(uplink: Uplink, clean: (raw: Raw) => Promise<Raw>): Uplink {
  return {
    notify: (...said) => uplink.notify(...said),
    request: async (...asked) => await clean(await uplink.request(...asked)),
  };
}

/** Masks at once, because the order of messages counts. Returns an empty object if that takes too long. */
function maskedNow(raw: Raw, options: MaskOptions): Raw {
  if (raw.length <= SMALL) return finish(masking(raw, options)).raw;
  try {
    const looked = raw.length <= LARGEST_NOW ? raw : withoutLarge(raw);
    return withinTime(NOW_MS, () => finish(masking(looked, options))).raw;
  } catch {
    return EMPTY_OBJECT;
  }
}

function withoutLarge(raw: Raw): Raw {
  const shorter = joinObject(
    entries(raw).map(([key, value]) => [key, value.length <= SMALL ? value : TOO_LARGE]),
  );
  return shorter.length <= LARGEST_NOW ? shorter : EMPTY_OBJECT;
}

/** Masks what the server sends about a task. */
function cleanTask(task: Call["task"], clean: (raw: Raw) => Raw): Call["task"] {
  return withTaskRequest(task, (asked) => ({
    created: (made) =>
      asked.created({ ...made, state: clean(made.state), meta: made.meta && clean(made.meta) }),
    changed: (state) => asked.changed(clean(state)),
  }));
}

/** Errors are masked even with `block`: the caller must learn that the call failed. */
async function cleanError(error: unknown, options: MaskOptions): Promise<unknown> {
  if (error instanceof RpcError) {
    const { raw } = await finishLater(masking(error.raw, options), options);
    return raw === error.raw ? error : new RpcError(raw);
  }
  if (!MetaMcpError.is(error)) return error;
  const { cause, details, ...context } = error.context;
  const message = await finishLater(maskedText(error.message, options, new Set()), options);
  const told =
    details === undefined ? undefined : (await finishLater(masking(toRaw(details), options), options)).raw;
  const same = told === undefined || told.equals(toRaw(details));
  const causeCleaned = cause instanceof RpcError ? await cleanError(cause, options) : undefined;
  if (message === error.message && same && (cause === undefined || causeCleaned === cause)) return error;
  return new MetaMcpError(error.code, message, {
    ...context,
    ...(told === undefined ? {} : { details: JSON.parse(told.toString()) as unknown }),
    ...(causeCleaned === undefined ? {} : { cause: causeCleaned }),
  });
}
