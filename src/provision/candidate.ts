/** A server that could be had: what would be written to the config, word for word, and what it needs. Every source of servers gives these. */

/** An entry of `mcpServers`. Values that the user must give stand as `${NAME}`. */
export type Entry =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | {
      readonly type: "http" | "sse";
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export interface Variable {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly secret: boolean;
}

export interface Candidate {
  /** `io.github.owner/name` in a registry, a short name in the gallery. */
  readonly id: string;
  /** The key it would get in the config. */
  readonly name: string;
  /** For people, and for finding it. */
  readonly title?: string;
  readonly description: string;
  readonly from: "registry" | "gallery";
  /** Exact; undefined for a remote server. */
  readonly version: string | undefined;
  /** Who is trusted or not: the names that rules are compared with, such as the id and the package's identifier. */
  readonly publishers: readonly string[];
  /** The package was seen to exist under that name and version. */
  readonly verified: boolean;
  readonly entry: Entry;
  readonly variables: readonly Variable[];
  readonly link?: string;
  /** A bundle that must be fetched, compared with its checksum and unpacked before the entry can run. */
  readonly bundle?: { readonly url: string; readonly sha256: string };
}
