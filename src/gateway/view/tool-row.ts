/** One tool for whoever configures servers, namespaces and endpoints. */
import type { ToolAnnotations } from "../../catalog/tool.ts";

export interface ToolRow {
  /** uuid. */
  readonly server: string;
  /** The server's own name of it. */
  readonly tool: string;
  /** Its name within its server here. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly annotations?: ToolAnnotations;
  readonly enabled: boolean;
  /** There is a rule for it, but the server does not list it. */
  readonly missing?: true;
  /** What hid, renamed or gates it. */
  readonly because?: string;
  /** What stands before a call of it, by layer. */
  readonly gates?: readonly string[];
}
