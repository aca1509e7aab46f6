/** What a child says of itself in the handshake. Carried along with its tools; never part of a tool. */
import { fromRaw, type Raw } from "../kernel/raw.ts";

export interface About {
  readonly title?: string;
  readonly version?: string;
  readonly instructions?: string;
  /** Names of the capabilities it declares, with spaces between. */
  readonly offers?: string;
  /** Which protocol era it speaks, so that it need not be asked again. */
  readonly era?: string;
}

const FIELDS = ["title", "version", "instructions", "offers", "era"] as const;

/** Whatever is no text is left out. */
export function readAbout(raw: Raw | undefined): About {
  const value = (raw ? fromRaw(raw) : undefined) as Partial<Record<string, unknown>> | null | undefined;
  const about: { -readonly [key in keyof About]: string } = {};
  for (const field of FIELDS) {
    const text = value?.[field];
    if (typeof text === "string") about[field] = text;
  }
  return about;
}

export function sameAbout(a: About, b: About): boolean {
  return a === b || FIELDS.every((field) => a[field] === b[field]);
}
