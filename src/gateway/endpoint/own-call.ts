/**
 * Converts a tool call to the form for the server: the server's own name of the tool, and the arguments that
 * the namespace sets. All other bytes stay.
 */
import { toolId } from "../../catalog/tool.ts";
import type { Call } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { member, withMember } from "../../rpc/slice.ts";
import { applyArguments } from "../view/arguments.ts";
import type { Target } from "../view/server-view.ts";
import type { View } from "../view/views.ts";

/**
 * Throws `tool_not_found` for an unknown name, `validation_input` for arguments that the caller must not
 * give.
 */
export function ownCall(call: Call, view: View): { readonly call: Call; readonly target: Target } {
  const { server, params } = call;
  const name = call.tool ?? nameIn(params);
  const target = view.resolve(server, name);
  if (!target)
    throw new MetaMcpError("tool_not_found", `Server "${server}" has no tool "${name}".`, {
      server,
      tool_id: toolId({ server, name }),
    });
  let written: Raw = params;
  if (target.name !== name) written = withMember(written, "name", toRaw(target.name));
  if (target.args.length > 0) {
    const args = member(params, "arguments") ?? EMPTY_OBJECT;
    const sent = applyArguments(args, target.args);
    if (sent !== args) written = withMember(written, "arguments", sent);
  }
  return { call: { ...call, server: target.server, tool: target.name, params: written }, target };
}

function nameIn(params: Raw): string {
  const written = member(params, "name");
  return String(written && fromRaw(written));
}
