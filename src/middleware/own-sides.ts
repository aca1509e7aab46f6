/** Whether what somebody else's `compile` gives is a layer: one with no side, by a slip of the pen, would guard nothing. */
import { isRecord } from "../kernel/is-record.ts";

const AROUND = ["request", "call"] as const;
const JUDGING = ["hidesOwn", "gates", "explain"] as const;
const SIDES: readonly string[] = [...AROUND, "list", ...JUDGING];

/** In words; undefined where it can be used. */
export function sidesProblem(layer: unknown): string | undefined {
  if (!isRecord(layer)) return "does not return an object";
  if (typeof layer["then"] === "function") return "must return the layer itself, not a promise";
  // What an instance of a class keeps for itself is its own business.
  const isPlain = Object.getPrototypeOf(layer) === Object.prototype;
  const unknown = isPlain ? Object.keys(layer).find((key) => !SIDES.includes(key)) : undefined;
  if (unknown !== undefined) return `returns the unknown key "${unknown}"; known: ${SIDES.join(", ")}`;
  if (![...AROUND, "list", "hidesOwn"].some((side) => layer[side] !== undefined))
    return "returns neither request, call, list nor hidesOwn";
  return wrongSide(layer);
}

function wrongSide(layer: Readonly<Record<string, unknown>>): string | undefined {
  for (const side of [...AROUND, ...JUDGING])
    if (layer[side] !== undefined && typeof layer[side] !== "function")
      return `must return a function as ${side}`;
  for (const side of AROUND) {
    const around = layer[side] as ((next: () => Promise<never>) => unknown) | undefined;
    if (around && typeof around.call(layer, nobody) !== "function")
      return `has a ${side} that does not return a function`;
  }
  const { list } = layer;
  if (list !== undefined && (!isRecord(list) || typeof list["hides"] !== "function"))
    return "returns a list without hides";
  return undefined;
}

function nobody(): Promise<never> {
  return Promise.reject(new Error("nothing is called while a layer is looked at"));
}
