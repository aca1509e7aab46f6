/** What is known about a client: where its files are, and how a server is written in them. Says it; touches no file. */
import type { Keys } from "../config/field.ts";
import type { Env } from "../home/home.ts";

/** What decides where files are. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  /** The user's home folder. */
  readonly home: string;
  readonly env: Env;
}

/** One installation of a client. */
export interface ClientFilePlace {
  /** The first that is there counts, else the last. */
  readonly files: readonly [string, ...string[]];
  /** Exists where the client is installed, also before it has a config file. */
  readonly folder: string;
}

/** How to start MetaMCP. */
export interface Own {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A server as a file of a client has it. */
export interface WrittenServer {
  readonly name: string;
  readonly entry: unknown;
  /** The folder it is for, where it is not for all. */
  readonly project?: string;
}

/** Where a client writes the same as others in another way. */
export interface FileDialect {
  /** `$NAME` is a variable, not only `${NAME}`. */
  readonly bareVariables?: boolean;
  /** A bare `url` means the older transport. */
  readonly urlIsSse?: boolean;
  /** What `timeout` counts. Without: it means something else there. */
  readonly timeoutUnitMs?: number;
}

export interface ClientProgram {
  readonly id: string;
  readonly title: string;
  places(machine: Machine): readonly ClientFilePlace[];
  /** What else holds servers of the user: files, and folders of files. Only read. */
  readonly alsoReads?: (machine: Machine) => readonly string[];
  /** The keys that lead to the servers. */
  at(file: Keys): readonly string[];
  /** All servers in a file. */
  servers(file: Keys): readonly WrittenServer[];
  /** MetaMCP as this client writes a server. */
  entry(own: Own): Keys;
  readonly dialect: FileDialect;
}
