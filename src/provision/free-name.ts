/** Chooses the name of a new server in the config: readable, with safe characters only, and unused. */
import { BUILTIN_SERVER } from "../kernel/builtin-server.ts";

const MAX_LENGTH = 50;

/** `wanted` without unsafe characters, with a number at the end if the name is taken. */
export function freeName(wanted: string, taken: Readonly<Record<string, unknown>>): string {
  const words = wanted.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "");
  const stem = words.slice(0, MAX_LENGTH) || "server";
  const used = new Set([BUILTIN_SERVER, ...Object.keys(taken)].map((name) => name.toLowerCase()));
  for (let count = 1; ; count++) {
    const name = count === 1 ? stem : `${stem}-${count}`;
    if (!used.has(name.toLowerCase())) return name;
  }
}
