/** One tool of a server, namespace or endpoint, for the admin API. */
import type { ToolAnnotations } from "../../catalog/tool.ts";

export interface ToolRow {
  /** uuid. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** Its name here, without prefix. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly annotations?: ToolAnnotations;
  readonly enabled: boolean;
  /** A rule names the tool, but the server does not list it. */
  readonly missing?: true;
  /** The rule or layer that hides, renames or restricts it. */
  readonly because?: string;
  /** What a call needs, by layer. */
  readonly gates?: readonly string[];
}
