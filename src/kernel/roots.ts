/**
 * The roots of a client: the folders it works in. Only clients that declare the `roots` capability have any.
 */
import { createHash } from "node:crypto";
import { fromRaw, type Raw } from "./raw.ts";

/** The answer of a client. Immutable: changed roots are another object. */
export interface KnownRoots {
  /** Equal for equal roots. */
  readonly key: string;
  /** The answer as written, or the reason why there is none. */
  readonly answer: { readonly result: Raw } | { readonly refusal: string };
}

export interface Roots {
  /** Undefined before the client was asked, and after it reported a change. */
  readonly known: KnownRoots | undefined;
  /**
   * Each question costs the client another request, in every call. So it is asked only for servers that want
   * roots.
   */
  readonly expensiveToAsk?: boolean;
  /** Asks the client. Concurrent callers share one question. Never rejects. */
  ask(): Promise<KnownRoots>;
}

export function rootsOf(result: Raw): KnownRoots {
  return {
    key: createHash("sha256").update(canonical(result)).digest("hex").slice(0, 32),
    answer: { result },
  };
}

/** A client that cannot answer has no roots. All such clients have the same key. */
export function noRoots(refusal: string): KnownRoots {
  return { key: "none", answer: { refusal } };
}

/** The order of roots does not matter. */
function canonical(result: Raw): string {
  const { roots } = (fromRaw(result) ?? {}) as { roots?: unknown };
  if (!Array.isArray(roots)) return result.toString();
  const written = roots.map((root: unknown) => {
    const { uri, name } = (root ?? {}) as { uri?: unknown; name?: unknown };
    return JSON.stringify([uri, name]);
  });
  return written.toSorted().join("\n");
}
