/** The key a new server gets in the config: readable, usable everywhere, and nobody else's. */
import { RESERVED_NAME } from "../config/server.ts";

const LONGEST = 50;

/** `wanted`, or as much of it as can be used; with a number behind it where it is taken. */
export function freeName(wanted: string, taken: Readonly<Record<string, unknown>>): string {
  const words = wanted.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "");
  const stem = words.slice(0, LONGEST) || "server";
  const used = new Set([RESERVED_NAME, ...Object.keys(taken)].map((name) => name.toLowerCase()));
  for (let count = 1; ; count++) {
    const name = count === 1 ? stem : `${stem}-${count}`;
    if (!used.has(name.toLowerCase())) return name;
  }
}
