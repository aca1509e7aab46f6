/** Types for signs: places in the texts of a server that speak for an attack on the model that reads them. */
import type { ServerId } from "../../kernel/call.ts";
import type { Raw } from "../../kernel/raw.ts";

/** Counts up when the rules change, so that lists that were checked before are checked again. */
export const RULES = 1;

export const SIGN_KINDS = [
  "hidden-characters",
  "other-tools",
  "imitated-name",
  "encoded",
  "hide",
  "send-away",
  "override",
  "too-long",
] as const;
export type SignKind = (typeof SIGN_KINDS)[number];

/** "hard": no harmless text of a real server is known that has it. "soft": worth a look. */
export const SEVERITIES = ["hard", "soft"] as const;
export type SignSeverity = (typeof SEVERITIES)[number];

export interface Sign {
  readonly sign: SignKind;
  readonly severity: SignSeverity;
  /** Where the text is in the definition, as in `inputSchema.properties.city.description`. */
  readonly path: string;
  /** The place in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The place with what is around it; invisible characters are escaped. */
  readonly excerpt: string;
}

/** One text of a definition. */
export interface SignText {
  readonly path: string;
  readonly text: string;
  /** True for names, which have no reason for unusual characters. */
  readonly name: boolean;
}

/** A sign in one text. */
export interface Found {
  readonly sign: SignKind;
  readonly severity: SignSeverity;
  readonly start: number;
  readonly end: number;
}

/** What else the model sees beside the item. */
export interface SignContext {
  /** The names of the server's own tools. */
  readonly own: ReadonlySet<string>;
  /** The other servers, and the tools of other servers by name. */
  readonly servers: ReadonlySet<string>;
  readonly tools: ReadonlyMap<string, ServerId>;
  /** The tools of other servers by what their names look like. */
  readonly looks: ReadonlyMap<string, string>;
}

/** An item with all that is checked of it. */
export interface SignedItem {
  readonly name: string;
  readonly definition: Raw;
}

/** What a sign means, as the rest of a sentence after the name of the item. */
export const MEANINGS: Readonly<Record<SignKind, string>> = {
  "hidden-characters": "has characters that people do not see",
  "other-tools": "tells the model what to do with other tools",
  "imitated-name": "has a name that looks like another one",
  encoded: "has encoded text",
  hide: "asks to keep something from the user",
  "send-away": "asks for data that it should not need",
  override: "asks to set instructions aside",
  "too-long": "is too long to be checked whole",
};
