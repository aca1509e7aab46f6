/** The call that a client would make for a tool, at whichever surface it is. */
import type { TriedRequest, TriedTool } from "../../gateway/try-control.ts";
import type { Origin } from "../../kernel/call.ts";
import { EMPTY_OBJECT, fromRaw } from "../../kernel/raw.ts";
import type { PublicTools } from "../../surface/aggregate/public-tools.ts";
import type { SurfaceName } from "../../surface/choose.ts";
import { CALL } from "../../surface/meta/tools.ts";
import { RUN_TOOL } from "../../surface/metatools/tools.ts";
import type { LocalClient } from "../../transport/local/local-client.ts";

interface Surroundings {
  readonly surface: SurfaceName;
  readonly tools: Pick<PublicTools, "learn" | "all">;
}

type Arguments = Readonly<Record<string, unknown>>;

export async function requestFor(
  client: LocalClient,
  wanted: TriedTool,
  args: Arguments,
  around: Surroundings,
): Promise<TriedRequest> {
  if ("name" in wanted) return calling(wanted.name, args);
  const { server, tool } = wanted;
  const surface = around.surface === "auto" ? await decided(client) : around.surface;
  if (surface === "meta") return calling(CALL.name, { server, tool, args });
  if (surface === "metatools") return calling(RUN_TOOL.name, { tool_id: `${server}:${tool}`, args });
  const origin = client.session.origin as Origin;
  await around.tools.learn(origin);
  const listed = around.tools.all(origin).find(([, one]) => one.server === server && one.name === tool);
  // What is not listed for them is asked for as somebody would who knows of it.
  return calling(listed?.[0] ?? `${server}__${tool}`, args);
}

function calling(name: string, args: Arguments): TriedRequest {
  return { method: "tools/call", params: { name, arguments: args } };
}

/** What such a client is shown tells which surface it has. */
async function decided(client: LocalClient): Promise<"meta" | "aggregate"> {
  const { tools } = fromRaw(await client.request("tools/list", EMPTY_OBJECT)) as {
    tools: readonly { readonly name: string }[];
  };
  return tools.some(({ name }) => name === CALL.name) ? "meta" : "aggregate";
}
