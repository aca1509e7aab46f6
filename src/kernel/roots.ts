/** The folders a client works in. Only a client that declared that it can be asked for them has any. */
import { createHash } from "node:crypto";
import { fromRaw, type Raw } from "./raw.ts";

/** What a client answered. Never changes: other roots are another object. */
export interface KnownRoots {
  /** The same for the same roots. */
  readonly key: string;
  /** The answer as written, or why there is none. */
  readonly answer: { readonly result: Raw } | { readonly refusal: string };
}

export interface Roots {
  /** Undefined while the client was not asked, or since it said that they changed. */
  readonly known: KnownRoots | undefined;
  /** To ask costs the client a request of its own, in each call anew: it is asked only for a server that wants to know. */
  readonly costly?: boolean;
  /** Asks the client, once for all who want to know. Never rejects. */
  ask(): Promise<KnownRoots>;
}

export function rootsOf(result: Raw): KnownRoots {
  return {
    key: createHash("sha256").update(canonical(result)).digest("hex").slice(0, 32),
    answer: { result },
  };
}

/** Clients that cannot say have none, and may share what has none. */
export function noRoots(refusal: string): KnownRoots {
  return { key: "none", answer: { refusal } };
}

/** In another order they are the same. */
function canonical(result: Raw): string {
  const { roots } = (fromRaw(result) ?? {}) as { roots?: unknown };
  if (!Array.isArray(roots)) return result.toString();
  const written = roots.map((root: unknown) => {
    const { uri, name } = (root ?? {}) as { uri?: unknown; name?: unknown };
    return JSON.stringify([uri, name]);
  });
  return written.toSorted().join("\n");
}
