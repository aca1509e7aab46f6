/** Says in one line why a call failed or was refused. Pure. */
import { whyTexts as texts } from "../texts/why.ts";

export interface Failed {
  /** In the words of the gateway. */
  readonly reason?: string | undefined;
  /** A code of the error table. */
  readonly code?: string | undefined;
  /** What refused it: a layer, or what hides the tool. */
  readonly by?: string | undefined;
  /** The object that has it, such as `endpoint "dev"`. */
  readonly place?: string | undefined;
  /** What the server said, for those who may read it. */
  readonly results?: unknown;
}

export function whyText({ reason, code, by, place, results }: Failed): string | undefined {
  const said = reason ?? saidIn(results).error;
  // A switch says itself where it is.
  const where = by && (place && !SWITCHES.has(by) ? `${by} (${place})` : by);
  if (said !== undefined) return where && !SWITCHES.has(by ?? "") ? `${where}: ${said}` : said;
  return (
    [code && (texts.codes[code] ?? code), where && texts.by(where)].filter(Boolean).join(" ") || undefined
  );
}

const SWITCHES: ReadonlySet<string> = new Set(["namespace", "server", "endpoint"]);

/** What a failed call says about itself, if its result is kept. */
export function saidIn(results: unknown): { readonly error?: string; readonly output?: string } {
  if (typeof results !== "object" || results === null || Array.isArray(results)) return {};
  const { error, output, isError, content } = results as Record<string, unknown>;
  if (isError === true && Array.isArray(content)) return { error: content.flatMap(textOf).join("\n") };
  return {
    ...(typeof error === "string" && { error }),
    ...(typeof output === "string" && { output }),
  };
}

function textOf(block: unknown): readonly string[] {
  const { text } = (block ?? {}) as { text?: unknown };
  return typeof text === "string" ? [text] : [];
}

export interface Place {
  readonly kind: "gateway" | "endpoint" | "namespace" | "server";
  readonly name: string;
}

/** Reads `endpoint "dev"`. */
export function placeIn(place: string | undefined): Place | undefined {
  const [, kind, name] = /^(endpoint|namespace|server) "(.*)"$/s.exec(place ?? "") ?? [];
  if (kind !== undefined && name !== undefined) return { kind: kind as Place["kind"], name };
  return place === "the gateway" ? { kind: "gateway", name: "" } : undefined;
}
