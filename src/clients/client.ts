/** The description of a client: where its files are, and how servers are written in them. Reads no file. */
import type { Keys } from "../config/field.ts";
import type { Env } from "../home/home.ts";

/** What the paths of files depend on. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  /** The user's home folder. */
  readonly home: string;
  readonly env: Env;
}

/** One installation of a client. */
export interface ClientFilePlace {
  /** The first that exists is used, else the last. */
  readonly files: readonly [string, ...string[]];
  /** Exists if the client is installed, even before it has a config file. */
  readonly folder: string;
}

/** How to start MetaMCP. */
export interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A server in a client's file. */
export interface WrittenServer {
  readonly name: string;
  readonly entry: unknown;
  /** The entry as the file has it, if other settings of the file were added to `entry`. */
  readonly written?: unknown;
  /** The project folder, if the server is only for that project. */
  readonly project?: string;
}

/** Differences in the syntax of a client's entries. */
export interface FileDialect {
  /** `$NAME` is a variable too, not only `${NAME}`. */
  readonly bareVariables?: boolean;
  /** `url` means the SSE transport. */
  readonly urlIsSse?: boolean;
  /** The unit of `timeout`; undefined if `timeout` has another meaning there. */
  readonly timeoutUnitMs?: number;
}

export interface ClientProgram {
  readonly id: string;
  readonly title: string;
  places(machine: Machine): readonly ClientFilePlace[];
  /** Further files, and folders of files, with servers of the user. They are only read. */
  readonly alsoReads?: (machine: Machine) => readonly string[];
  /** The keys that lead to the servers. */
  at(file: Keys): readonly string[];
  servers(file: Keys): readonly WrittenServer[];
  /** The entry for MetaMCP in the syntax of this client. */
  entry(start: StartCommand): Keys;
  /**
   * Keys of an entry whose tools the client shows to the model at once, instead of hiding them behind a
   * search.
   */
  readonly shown?: Keys;
  readonly dialect: FileDialect;
}
