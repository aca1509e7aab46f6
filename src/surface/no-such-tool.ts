/** The errors for a tool that does not exist for its caller, or is not approved. */
import { type ToolChange, whatHappened } from "../catalog/pins/change.ts";
import { toolId } from "../catalog/tool.ts";
import type { Origin } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { nearest } from "../kernel/nearest.ts";
import { visible } from "../kernel/visible.ts";
import { suggest, unknownServer } from "./require-server.ts";
import type { ScopeCatalog } from "./scope.ts";

export function noSuchTool(
  scope: ScopeCatalog,
  {
    server,
    tool: name,
    finder,
  }: { readonly server: string; readonly tool: string; readonly finder?: string | undefined },
  origin: Origin,
): MetaMcpError {
  if (!scope.has(server, origin)) return unknownServer(scope, server, origin, finder);
  const { pins } = scope;
  const change = pins.enforced && pins.unapproved(server, origin).find(({ tool }) => tool === name);
  if (change) return quarantined(server, change);
  const names =
    scope
      .view(origin)
      .snapshot.listings.get(server)
      ?.tools.map((other) => other.name) ?? [];
  return new MetaMcpError(
    "tool_not_found",
    `Server "${visible(server)}" has no tool "${visible(name)}". ${suggest(name, names, "tool", scope.finder ?? finder)}`,
    {
      server,
      tool_id: toolId({ server, name }),
      details: { nearest: nearest(name, names) },
    },
  );
}

/** The tool exists, but differs from what the user approved. */
export function quarantined(server: string, change: ToolChange): MetaMcpError {
  const { tool, kind, parts } = change;
  return new MetaMcpError(
    "forbidden",
    `Tool "${visible(tool)}" of "${visible(server)}" ${whatHappened(change)} and is blocked until the user approves it. Ask the user to review it: metamcp approve ${server}`,
    { server, tool_id: toolId({ server, name: tool }), details: { kind, changed: parts } },
  );
}
