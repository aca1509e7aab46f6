/** A child's self-description from the handshake. It is stored beside the tools and is not part of a tool. */
import { fromRaw, type Raw } from "../kernel/raw.ts";

export interface About {
  readonly title?: string;
  readonly version?: string;
  readonly instructions?: string;
  /** The names of the declared capabilities, and `SKILLS_OFFER`, `FOLDERS_OFFER`; separated by spaces. */
  readonly offers?: string;
  /** The declared protocol extensions with their settings, as the text of a JSON object. */
  readonly extensions?: string;
  /** The protocol era of the child, so that the next connect need not negotiate it. */
  readonly era?: string;
}

const FIELDS = ["title", "version", "instructions", "offers", "extensions", "era"] as const;

/** Skips fields that are not strings. */
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
