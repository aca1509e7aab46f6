/** Puts servers into a config file and takes them out, all of them or none. Leaves entries that are there as they are. */
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "./config-error.ts";
import { type EditOptions, editJson } from "./edit.ts";
import { isKeys, type Keys, kindOf } from "./field.ts";
import { readConfigText } from "./load.ts";

export interface AddedEntries {
  readonly added: readonly string[];
  /** There already, word for word. */
  readonly same: readonly string[];
  /** There already as something else, and untouched. */
  readonly other: readonly string[];
  /** Where the file as it was before can be found. */
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
  const there = names.filter((name) => Object.hasOwn(known, name));
  const isSame = (name: string): boolean => isDeepStrictEqual(known[name], servers.get(name));
  return {
    added: names.filter((name) => !Object.hasOwn(known, name)),
    same: there.filter(isSame),
    other: there.filter((name) => !isSame(name)),
    copy,
  };
}

export interface Removed {
  /** Empty if one of the names is not there. */
  readonly removed: readonly string[];
  readonly absent: readonly string[];
  /** All that were there before. */
  readonly known: readonly string[];
  readonly copy: string | undefined;
}

/** Throws ConfigError. A file that is not there is not made. */
export async function removeServers(
  path: string,
  names: readonly string[],
  options: EditOptions,
): Promise<Removed> {
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
