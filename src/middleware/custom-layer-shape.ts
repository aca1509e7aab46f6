/**
 * Checks the object that `compile` of an own layer returns. A misspelt key would leave a layer that guards
 * nothing.
 */
import { isRecord } from "../kernel/is-record.ts";

const WRAPPERS = ["request", "call"] as const;
const FUNCTIONS = ["hidesOwn", "gates", "explain"] as const;
const KEYS: readonly string[] = [...WRAPPERS, "list", ...FUNCTIONS];

/** Undefined if the layer can be used. */
export function shapeProblem(layer: unknown): string | undefined {
  if (!isRecord(layer)) return "does not return an object";
  if (typeof layer["then"] === "function") return "must return the layer itself, not a promise";
  // An instance of a class may have other members.
  const isPlain = Object.getPrototypeOf(layer) === Object.prototype;
  const unknown = isPlain ? Object.keys(layer).find((key) => !KEYS.includes(key)) : undefined;
  if (unknown !== undefined) return `returns the unknown key "${unknown}"; known: ${KEYS.join(", ")}`;
  if (![...WRAPPERS, "list", "hidesOwn"].some((key) => layer[key] !== undefined))
    return "returns neither request, call, list nor hidesOwn";
  return memberProblem(layer);
}

function memberProblem(layer: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of [...WRAPPERS, ...FUNCTIONS])
    if (layer[key] !== undefined && typeof layer[key] !== "function")
      return `must return a function as ${key}`;
  for (const key of WRAPPERS) {
    const wrap = layer[key] as ((next: () => Promise<never>) => unknown) | undefined;
    if (wrap && typeof wrap.call(layer, neverCalled) !== "function")
      return `has a ${key} that does not return a function`;
  }
  const { list } = layer;
  if (list !== undefined && (!isRecord(list) || typeof list["hides"] !== "function"))
    return "returns a list without hides";
  return undefined;
}

function neverCalled(): Promise<never> {
  return Promise.reject(new Error("nothing is called while a layer is looked at"));
}
