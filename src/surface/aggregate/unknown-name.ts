/** The errors for a name that no server has, and for a tool that the user has not approved. */
import type { MetaMcpError } from "../../kernel/errors.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { nearest } from "../../kernel/nearest.ts";
import { visible } from "../../kernel/visible.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { quarantined } from "../no-such-tool.ts";
import type { ScopeCatalog } from "../scope.ts";
import { publicNames } from "./public-names.ts";

/** Returns an error if an unapproved tool would have this name. */
export function quarantinedName(scope: ScopeCatalog, name: string, asker: Asker): MetaMcpError | undefined {
  const { pins } = scope;
  for (const [server, { prefix }] of pins.enforced ? scope.specs() : []) {
    const items = pins.unapproved(server, asker).map((change) => ({ server, name: change.tool, change }));
    const found = publicNames([{ server, prefix, items }]).get(name);
    if (found) return quarantined(server, found.change);
  }
  return undefined;
}

export function unknownName(
  kind: "tool" | "prompt",
  name: string,
  list: { names(): Iterable<string> },
): RpcError {
  const close = nearest(name, [...list.names()]);
  const hint = close.length > 0 ? ` Nearest: ${close.join(", ")}.` : "";
  return RpcError.of(INVALID_PARAMS, `Unknown ${kind}: ${visible(name)}.${hint}`, { nearest: close });
}
