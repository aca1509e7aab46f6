/** Adds servers to a config file and removes them, all or none. Does not change existing entries. */
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "./config-error.ts";
import { type EditOptions, editJson } from "./edit.ts";
import { isKeys, type Keys, kindOf } from "./field.ts";
import { readConfigText } from "./load.ts";

export interface AddedEntries {
  readonly added: readonly string[];
  /** Existing servers with equal entries. */
  readonly same: readonly string[];
  /** Existing servers with other entries; they are not changed. */
  readonly other: readonly string[];
  /** The path of the backup. */
  readonly copy: string | undefined;
}

/** Throws ConfigError. */
export async function addServers(
  path: string,
  servers: ReadonlyMap<string, object>,
  options: EditOptions,
): Promise<AddedEntries> {
  let known: Keys = {};
  const { copy } = await editJson(
    path,
    (file) => {
      known = serversIn(path, file);
      return [...servers]
        .filter(([name]) => !Object.hasOwn(known, name))
        .map(([name, value]) => ({ at: ["mcpServers", name], value }));
    },
    options,
  );
  const names = [...servers.keys()];
  const existing = names.filter((name) => Object.hasOwn(known, name));
  const isSame = (name: string): boolean => isDeepStrictEqual(known[name], servers.get(name));
  return {
    added: names.filter((name) => !Object.hasOwn(known, name)),
    same: existing.filter(isSame),
    other: existing.filter((name) => !isSame(name)),
    copy,
  };
}

export interface RemovedEntries {
  /** Empty if one of the names does not exist. */
  readonly removed: readonly string[];
  readonly absent: readonly string[];
  /** All servers before the change. */
  readonly known: readonly string[];
  readonly copy: string | undefined;
}

/** Throws ConfigError. Does not create a missing file. */
export async function removeServers(
  path: string,
  names: readonly string[],
  options: EditOptions,
): Promise<RemovedEntries> {
  if ((await readConfigText(path)) === undefined)
    return { removed: [], absent: names, known: [], copy: undefined };
  let known: Keys = {};
  let absent: readonly string[] = [];
  const { copy } = await editJson(
    path,
    (file) => {
      known = serversIn(path, file);
      absent = names.filter((name) => !Object.hasOwn(known, name));
      return absent.length > 0 ? [] : names.map((name) => ({ at: ["mcpServers", name], value: undefined }));
    },
    options,
  );
  return { removed: absent.length > 0 ? [] : names, absent, known: Object.keys(known), copy };
}

function serversIn(path: string, { mcpServers = {} }: Keys): Keys {
  if (isKeys(mcpServers)) return mcpServers;
  throw new ConfigError(path, `mcpServers is ${kindOf(mcpServers)}, not an object; fix it first`);
}
