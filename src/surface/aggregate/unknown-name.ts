/** The answer to a name that nobody has: which ones are near. */
import { nearest } from "../../kernel/nearest.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";

export function unknownName(
  kind: "tool" | "prompt",
  name: string,
  list: { names(): Iterable<string> },
): RpcError {
  const close = nearest(name, [...list.names()]);
  const hint = close.length > 0 ? ` Nearest: ${close.join(", ")}.` : "";
  return RpcError.of(INVALID_PARAMS, `Unknown ${kind}: ${name}.${hint}`, { nearest: close });
}
