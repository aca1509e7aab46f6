/** One tool of a server, namespace or endpoint, for the admin API. */
import { BOOLEAN, named, object, type Static, TEXT, TEXTS, UUID } from "../../kernel/json-schema.ts";
import { TOOL_ANNOTATIONS } from "../../kernel/tool-facts.ts";

export const TOOL = named(
  "Tool",
  object(
    {
      server: UUID,
      tool: { ...TEXT, description: "the tool's name at the server" },
      name: { ...TEXT, description: "the tool's name here, without prefix" },
      enabled: BOOLEAN,
    },
    {
      serverName: { ...TEXT, description: "in lists of endpoints" },
      title: TEXT,
      description: TEXT,
      annotations: TOOL_ANNOTATIONS,
      missing: { const: true, description: "there is a rule for it, but the server does not list it" },
      because: { ...TEXT, description: "the layer or rule that hides, renames or restricts it" },
      gates: { ...TEXTS, description: "checks before a call, by layer" },
    },
  ),
);
export type ToolRow = Static<typeof TOOL>;
