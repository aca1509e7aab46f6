/** Makes the context of signs from the lists that are known. */
import type { ServerId } from "../../kernel/call.ts";
import { lookOfName } from "./look.ts";
import type { SignContext } from "./sign.ts";

/** A server with its tools. */
export interface NamedList {
  readonly server: ServerId;
  /** What clients know it by. */
  readonly name: string;
  readonly tools: readonly { readonly name: string }[];
}

/** Shorter names are too often words of the language. */
const LEAST_SERVER_NAME = 4;

/** `listed`: names of the server's tools that the lists may not have yet. */
export function signContext(
  server: ServerId,
  lists: Iterable<NamedList>,
  listed: Iterable<string> = [],
): SignContext {
  const own = new Set<string>(listed);
  const servers = new Set<string>();
  const tools = new Map<string, ServerId>();
  const looks = new Map<string, string>();
  for (const { server: other, name, tools: known } of lists) {
    if (other === server) {
      for (const tool of known) own.add(tool.name);
      continue;
    }
    if (name.length >= LEAST_SERVER_NAME) servers.add(name.toLowerCase());
    for (const tool of known) {
      tools.set(tool.name, other);
      looks.set(lookOfName(tool.name), tool.name);
    }
  }
  return { own, servers, tools, looks };
}
