/** The editor of text for a file, with a check: whatever it did, the file says afterwards what it said before, but for our entry. */
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "../config/config-error.ts";
import { withValue } from "../config/edit.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { Format, FormatTarget } from "./format.ts";

const MARK = "\uFEFF";

/** By the name of the file. */
export async function formatOf(path: string): Promise<Format> {
  const format = path.endsWith(".toml")
    ? (await import("./toml-format.ts")).tomlFormat
    : (await import("./json-format.ts")).jsonFormat;
  return guarded(format);
}

function guarded(format: Format): Format {
  const change = async (
    target: FormatTarget,
    edit: (bare: FormatTarget) => Promise<string>,
    expected: (file: Keys) => readonly Keys[],
  ): Promise<string> => {
    const mark = target.text.startsWith(MARK) ? MARK : "";
    const bare = { ...target, text: target.text.slice(mark.length) };
    const before = await format.parse(bare);
    const after = await edit(bare);
    const now = await format.parse({ ...bare, text: after });
    if (expected(before).some((file) => isDeepStrictEqual(now, file))) return mark + after;
    throw new ConfigError(
      target.path,
      "it is written in a way that cannot be edited safely; edit it by hand",
    );
  };
  return {
    parse: (target) => format.parse({ ...target, text: target.text.replace(/^\uFEFF/, "") }),
    put: (target, at, entry) =>
      change(
        target,
        (bare) => format.put(bare, at, entry),
        (file) => [withValue(file, at, entry)],
      ),
    drop: (target, at) =>
      change(
        target,
        (bare) => format.drop(bare, at),
        (file) => {
          const rest = withValue(file, at, undefined);
          // In TOML a table that nobody is in may not be there at all.
          return [rest, withoutHollow(rest, at.slice(0, -1))];
        },
      ),
  };
}

function withoutHollow(file: Keys, [key, ...rest]: readonly string[]): Keys {
  const inner = key === undefined ? undefined : file[key];
  if (key === undefined || !isKeys(inner)) return file;
  const next = withoutHollow(inner, rest);
  return withValue(file, [key], Object.keys(next).length > 0 ? next : undefined);
}
