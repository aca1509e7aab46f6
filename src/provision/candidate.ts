/**
 * A server that could be added: the exact config entry, and what it needs. All sources of servers return this
 * type.
 */
import type { NewSandbox } from "./new-sandbox.ts";

/** An entry of `mcpServers`. Values that the user must provide are written as `${NAME}`. */
export type Entry =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
      /** Set if the process holds a session (a browser, a terminal) that must outlive a pause. */
      readonly lifecycle?: "keep-alive";
      readonly sandbox?: NewSandbox | false;
    }
  | {
      readonly type: "http" | "sse";
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | ApiEntry;

/** An HTTP API. */
export type ApiEntry = {
  readonly openapi: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The addresses that an entry calls; none if it runs a command. */
export function addressesOf(entry: Entry): readonly string[] {
  if ("command" in entry) return [];
  if ("url" in entry) return [entry.url];
  return [entry.openapi, ...(entry.baseUrl === undefined ? [] : [entry.baseUrl])];
}

export interface Variable {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly secret: boolean;
}

export interface Candidate {
  /** `io.github.owner/name` in a registry, a short name in the gallery. */
  readonly id: string;
  /** The preferred name in the config. */
  readonly name: string;
  /** Shown to people and used by the search. */
  readonly title?: string;
  readonly description: string;
  readonly from: "registry" | "gallery";
  /** The exact version; undefined for a remote server. */
  readonly version: string | undefined;
  /** The names that trust rules are compared with, such as the id and the package's identifier. */
  readonly publishers: readonly string[];
  /** True if the package is known to exist under that name and version. */
  readonly verified: boolean;
  readonly entry: Entry;
  readonly variables: readonly Variable[];
  readonly link?: string;
  /** A bundle that must be downloaded, checked against its checksum and unpacked before the entry can run. */
  readonly bundle?: { readonly url: string; readonly sha256: string };
}
