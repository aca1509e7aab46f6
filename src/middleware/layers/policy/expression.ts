/**
 * `when` of a rule: a CEL expression over principal, tool and arguments. CEL is loaded with the first such
 * rule. Expressions without a time bound are refused: `matches` backtracks, and the time of nested
 * comprehensions grows with a power of the arguments. Text search and list search are not linear either, so
 * arguments have a maximum size; a larger one throws when it is read.
 */
import type { Environment } from "@marcbachmann/cel-js";
import type { Call } from "../../../kernel/call.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { isOtherMethod } from "../../../kernel/methods.ts";
import { EMPTY_OBJECT } from "../../../kernel/raw.ts";
import { entries, member } from "../../../rpc/slice.ts";

/** Throws if the expression cannot be evaluated. */
export type Expression = (call: Call, args: Readonly<Record<string, unknown>>) => boolean;

const COMPREHENSIONS: ReadonlySet<unknown> = new Set(["all", "exists", "exists_one", "map", "filter"]);
/**
 * Maximum bytes of arguments for an expression. With a comprehension the time can grow with the square, so
 * less is allowed.
 */
const LARGEST = 16_384;
const LARGEST_EACH = 4_096;
const VARIABLES = ["principal", "tool", "args"] as const;
const LIMITS = { maxAstNodes: 500, maxDepth: 50, maxListElements: 200, maxMapEntries: 50 };

let environment: Environment | undefined;
let loading: Promise<void> | undefined;

/** Returns undefined if CEL is loaded. */
export function loadExpressions(): Promise<void> | undefined {
  if (environment) return undefined;
  loading ??= import("@marcbachmann/cel-js").then(({ Environment }) => {
    const made = new Environment({ limits: LIMITS });
    for (const name of VARIABLES) made.registerVariable(name, "map");
    environment = made;
  });
  return loading;
}

/** Undefined if the expression can be used. */
export function expressionProblem(text: string): string | undefined {
  try {
    const expression = parsed(text);
    const unbounded = unboundedPart(expression.ast, false);
    if (unbounded) return unbounded;
    const { valid, type, error } = expression.check();
    if (!valid) return `is not valid: ${firstLine(error)}`;
    return type === "bool" || type === "dyn"
      ? undefined
      : `must be true or false, and is of type ${String(type)}`;
  } catch (error) {
    return `is not valid: ${firstLine(error)}`;
  }
}

/** The text must have been checked. */
export function compileExpression(text: string): Expression {
  const evaluate = parsed(text);
  const most = hasComprehension(evaluate.ast) ? LARGEST_EACH : LARGEST;
  return (call, args) => {
    const { kind, id, claimed, roles, groups } = call.origin.principal;
    const { name = "" } = claimed ? {} : call.origin.principal;
    const { server = "", name: tool = "", labels = [], annotations = {} } = call.facts ?? {};
    const value: unknown = evaluate({
      principal: { kind, id, name, roles: [...roles], groups: [...groups] },
      tool: { server, name: tool, labels: [...labels], annotations: { ...annotations } },
      args: boundedArguments(call, args, most),
    });
    if (typeof value !== "boolean") throw new TypeError("the expression is neither true nor false");
    return value;
  };
}

function parsed(text: string): ReturnType<Environment["parse"]> {
  if (!environment) throw new Error("expressions are not loaded");
  return environment.parse(text);
}

/** Arguments that are too large exist, but throw when an expression reads them. */
function boundedArguments(
  { params, method }: Call,
  args: Readonly<Record<string, unknown>>,
  most: number,
): Readonly<Record<string, unknown>> {
  const raw = isOtherMethod(method) ? params : (member(params, "arguments") ?? EMPTY_OBJECT);
  if (raw.length <= most) return args;
  let room = most;
  const bounded = {};
  for (const [key, { length }] of entries(raw)) {
    room -= length;
    const tooLarge = room < 0;
    if (tooLarge) room += length;
    Object.defineProperty(bounded, key, {
      enumerable: true,
      get() {
        if (tooLarge) throw new RangeError(`args.${key.slice(0, 64)} is too large to check`);
        return args[key];
      },
    });
  }
  return bounded;
}

function hasComprehension(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(hasComprehension);
  return isRecord(node) && (isComprehension(node) || hasComprehension(node["args"]));
}

function isComprehension({ op, args }: Readonly<Record<string, unknown>>): boolean {
  return op === "rcall" && Array.isArray(args) && COMPREHENSIONS.has(args[0]);
}

/** Searches the whole syntax tree. Operands are nodes, lists of nodes, or names. */
function unboundedPart(node: unknown, within: boolean): string | undefined {
  if (Array.isArray(node)) {
    for (const part of node) {
      const found = unboundedPart(part, within);
      if (found) return found;
    }
    return undefined;
  }
  if (!isRecord(node)) return undefined;
  const { op, args } = node as { op?: unknown; args?: unknown };
  const called = (op === "rcall" || op === "call") && Array.isArray(args) ? args[0] : undefined;
  if (called === "matches")
    return "must not use matches, which has no time limit. Use startsWith, contains or a glob in args";
  const comprehension = isComprehension(node);
  if (comprehension && within)
    return `must not use ${String(called)} inside another one, which has no time limit`;
  return unboundedPart(args, within || comprehension);
}

function firstLine(error: unknown): string {
  const [line = ""] = String((error as Error | undefined)?.message ?? error).split("\n");
  return line.slice(0, 200);
}
