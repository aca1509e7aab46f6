/**
 * Chooses the format of a file and checks every edit: afterwards the content must be unchanged except for our
 * entry.
 */
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "../config/config-error.ts";
import { withValue } from "../config/edit.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { Format, FormatTarget } from "./format.ts";

const BYTE_ORDER_MARK = "\uFEFF";

/** Chooses the format by the file extension. */
export async function formatOf(path: string): Promise<Format> {
  const format = path.endsWith(".toml")
    ? (await import("./toml-format.ts")).tomlFormat
    : (await import("./json-format.ts")).jsonFormat;
  return withCheck(format);
}

function withCheck(format: Format): Format {
  const change = async (
    target: FormatTarget,
    edit: (bare: FormatTarget) => Promise<string>,
    expected: (file: Keys) => readonly Keys[],
  ): Promise<string> => {
    const mark = target.text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
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
          // In TOML an empty parent table may disappear.
          return [rest, withoutEmpty(rest, at.slice(0, -1))];
        },
      ),
  };
}

function withoutEmpty(file: Keys, [key, ...rest]: readonly string[]): Keys {
  const inner = key === undefined ? undefined : file[key];
  if (key === undefined || !isKeys(inner)) return file;
  const next = withoutEmpty(inner, rest);
  return withValue(file, [key], Object.keys(next).length > 0 ? next : undefined);
}
