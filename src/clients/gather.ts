/**
 * Reads the servers of all clients from all of their files. Changes nothing; a file that cannot be read does
 * not affect the others.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../config/config-error.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { ClientProgram, Machine, WrittenServer } from "./client.ts";
import { faultOf, readBytes, textOf } from "./client-file.ts";
import { formatOf } from "./format-of.ts";
import { isMetaMcp, METAMCP_NAME } from "./metamcp-entry.ts";
import { translate } from "./translate.ts";

/** Where a server was found. */
export interface Source {
  readonly client: Pick<ClientProgram, "id" | "title">;
  readonly file: string;
  readonly name: string;
  readonly project?: string;
}

export interface GatheredServer extends Source {
  /** Translated for our config. */
  readonly entry: Keys;
  readonly notes: readonly string[];
}

export interface Gathered {
  readonly found: readonly GatheredServer[];
  /** Servers that cannot be used, with the reason. */
  readonly skipped: readonly (Source & { readonly reason: string })[];
  /** Files that cannot be used, with line and column if known. */
  readonly faults: readonly string[];
  /** All files that were read, with or without servers. */
  readonly files: readonly string[];
  /** Entries that cannot be read: how many, and why. */
  readonly leftOut?: readonly string[];
  /** What is said if no server was found. */
  readonly nothing?: string;
}

export async function gather(clients: readonly ClientProgram[], machine: Machine): Promise<Gathered> {
  const found: GatheredServer[] = [];
  const skipped: (Source & { reason: string })[] = [];
  const faults: string[] = [];
  const files: string[] = [];
  for (const client of clients) {
    for (const file of await filesOf(client, machine)) {
      try {
        const written = await serversIn(client, file);
        if (written === undefined) continue;
        files.push(file);
        for (const server of written) classify(client, file, server);
      } catch (error) {
        faults.push(faultOf(error, file));
      }
    }
  }
  return { found, skipped, faults, files };

  function classify(client: ClientProgram, file: string, server: WrittenServer): void {
    const { name, project } = server;
    const source = { client, file, name, ...(project === undefined ? {} : { project }) };
    const reason = unusable(server);
    if (reason) {
      skipped.push({ ...source, reason });
      return;
    }
    const result = translate(server, client.dialect);
    if ("reason" in result) skipped.push({ ...source, reason: result.reason });
    else found.push({ ...source, ...result });
  }
}

function unusable({ name, entry }: WrittenServer): string | undefined {
  if (isMetaMcp(entry)) return "it is MetaMCP itself";
  if (name.toLowerCase() === METAMCP_NAME) return `the name "${METAMCP_NAME}" is reserved; rename it there`;
  if (name.trim() === "") return "it has no name";
  return /\p{Cc}/u.test(name) ? "its name contains a control character" : undefined;
}

async function filesOf(client: ClientProgram, machine: Machine): Promise<readonly string[]> {
  const own = client.places(machine).flatMap(({ files }) => files);
  const others = await Promise.all((client.alsoReads?.(machine) ?? []).map(inFolder));
  return [...new Set([...own, ...others.flat()])];
}

/** The servers in the files that the client reads but we do not edit. */
export async function alsoRead(
  client: ClientProgram,
  machine: Machine,
): Promise<readonly ({ file: string } & ({ servers: readonly WrittenServer[] } | { fault: string }))[]> {
  const files = await Promise.all((client.alsoReads?.(machine) ?? []).map(inFolder));
  return await Promise.all(
    files.flat().map(async (file) => {
      try {
        return { file, servers: (await serversIn(client, file)) ?? [] };
      } catch (error) {
        return { file, fault: faultOf(error, file) };
      }
    }),
  );
}

/** A file itself, or the files of a folder that may contain servers. */
async function inFolder(path: string): Promise<readonly string[]> {
  const names = await readdir(path).catch(() => undefined);
  if (!names) return [path];
  return names.filter((name) => /\.(?:json|jsonc|yaml|yml)$/.test(name)).map((name) => join(path, name));
}

/** Undefined if the file does not exist. */
async function serversIn(client: ClientProgram, file: string): Promise<readonly WrittenServer[] | undefined> {
  const bytes = await readBytes(file);
  if (!bytes) return undefined;
  const text = textOf(bytes, file);
  const doc = /\.ya?ml$/.test(file)
    ? await parseYaml(file, text)
    : await (await formatOf(file)).parse({ path: file, text });
  return client.servers(doc);
}

/** YAML files are read but never edited. */
async function parseYaml(path: string, text: string): Promise<Keys> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text, { logLevel: "silent" });
  const [error] = document.errors;
  if (error) {
    const at = error.linePos?.[0];
    const [message = "it is not valid YAML"] = error.message.split("\n");
    throw new ConfigError(
      path,
      message.replace(/ at line \d+, column \d+:?$/, ""),
      at && { line: at.line, column: at.col },
    );
  }
  try {
    const value: unknown = document.toJS();
    return isKeys(value) ? value : {};
  } catch {
    throw new ConfigError(path, "it refers to itself too often");
  }
}
