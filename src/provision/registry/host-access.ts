/**
 * Refuses options of a container that would give it the machine: system folders, sockets, the host's network.
 * Throws UnsupportedEntry.
 */
import { posix } from "node:path";
import { UnsupportedEntry } from "./unsupported-entry.ts";

/** With everything below them. */
const SYSTEM =
  /^\/(?:etc|var|usr|bin|sbin|lib\w*|boot|dev|proc|sys|run|root|private|System|Library|Applications)(?:\/|$)/;
/** These themselves, because they hold the files of all people. */
const WHOLE = /^\/(?:home|Users|mnt|media|opt|srv|Volumes)?$/;
const WINDOWS = /^[A-Za-z]:[\\/]*(?:$|Windows|Users[\\/]*$|Program)/i;
const DRIVE = /^[A-Za-z]:[\\/][^:]*/;
const PLACEHOLDER = /^\$\{[A-Za-z_]\w*\}/;

/** Options as `allowedOptions` returns them: a value is the next element, or after `=`. */
export function rejectHostAccess(options: readonly string[]): readonly string[] {
  for (let at = 0; at < options.length; at++) {
    const option = options[at] as string;
    const equals = option.startsWith("-") ? option.indexOf("=") : -1;
    const name = equals < 0 ? option : option.slice(0, equals);
    const value = equals < 0 ? (options[at + 1] ?? "") : option.slice(equals + 1);
    if (isOpen(name, value))
      throw new UnsupportedEntry("the container would get access to the whole machine");
  }
  return options;
}

function isOpen(name: string, value: string): boolean {
  switch (name) {
    case "-v":
    case "--volume":
      return isSystemFolder(DRIVE.exec(value)?.[0] ?? value.split(":", 1)[0] ?? "");
    case "--mount":
      return value.split(",").some((part) => isOpenMount(part.replaceAll('"', "").trim()));
    case "--network":
    case "--net":
      return /^(?:host|container:)|\bname=host\b/.test(value);
    default:
      return false;
  }
}

function isOpenMount(part: string): boolean {
  const [, key = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(part) ?? [];
  // A volume with options of its own can be any folder.
  if (/^volume-(?:opt|driver)$/i.test(key)) return true;
  return /^(?:src|source)$/i.test(key) && isSystemFolder(value);
}

/**
 * A folder that the user gives in place of a placeholder is the user's choice, unless the rest leads out of
 * it.
 */
function isSystemFolder(path: string): boolean {
  if (/\.sock(?:et)?\b/.test(path)) return true;
  const rest = path.replace(PLACEHOLDER, "");
  if (rest !== path) return rest.split(/[\\/]/).includes("..");
  if (WINDOWS.test(path)) return true;
  const plain = posix
    .normalize(path.replaceAll("\\", "/"))
    .replace(/^\/+/, "/")
    .replace(/(?<=.)\/+$/, "");
  if (plain.startsWith("..") || plain.startsWith("~")) return true;
  return plain.startsWith("/") && (SYSTEM.test(plain) || WHOLE.test(plain));
}
