/** The request with which a client would call a tool, for each surface. */
import type { TriedRequest, TriedTool } from "../../gateway/try-control.ts";
import type { Origin } from "../../kernel/call.ts";
import { EMPTY_OBJECT, fromRaw } from "../../kernel/raw.ts";
import type { PublicTools } from "../../surface/aggregate/public-tools.ts";
import type { SurfaceName } from "../../surface/kind.ts";
import { CALL } from "../../surface/meta/tools.ts";
import { RUN_TOOL } from "../../surface/metatools/tools.ts";
import type { LocalClient } from "../../transport/local/local-client.ts";

interface EndpointTools {
  readonly surface: SurfaceName;
  readonly tools: Pick<PublicTools, "loadMissing" | "all">;
}

type Arguments = Readonly<Record<string, unknown>>;

export async function requestFor(
  client: LocalClient,
  wanted: TriedTool,
  args: Arguments,
  endpoint: EndpointTools,
): Promise<TriedRequest> {
  if ("name" in wanted) return calling(wanted.name, args);
  const { server, tool } = wanted;
  const surface = endpoint.surface === "auto" ? await chosenSurface(client) : endpoint.surface;
  if (surface === "meta") return calling(CALL.name, { server, tool, args });
  if (surface === "metatools") return calling(RUN_TOOL.name, { tool_id: `${server}:${tool}`, args });
  const origin = client.session.origin as Origin;
  await endpoint.tools.loadMissing(origin);
  const listed = endpoint.tools.all(origin).find(([, one]) => one.server === server && one.name === tool);
  // A tool that is not listed for the principal is called by the name that it would have.
  return calling(listed?.[0] ?? `${server}__${tool}`, args);
}

function calling(name: string, args: Arguments): TriedRequest {
  return { method: "tools/call", params: { name, arguments: args } };
}

/** The tool list shows which surface `auto` chose. */
async function chosenSurface(client: LocalClient): Promise<"meta" | "aggregate"> {
  const { tools } = fromRaw(await client.request("tools/list", EMPTY_OBJECT)) as {
    tools: readonly { readonly name: string }[];
  };
  return tools.some(({ name }) => name === CALL.name) ? "meta" : "aggregate";
}
