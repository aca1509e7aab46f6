/** What a model is told about many servers at once: what each says of itself, bounded, since every conversation pays for it. */

import type { Catalog } from "../../catalog/catalog.ts";
import { clip } from "../../catalog/read-tool.ts";
import type { Scope } from "../scope.ts";

const LONGEST_OF_ONE = 2_000;
const LONGEST_OF_ALL = 10_000;
const NAMES_SHOWN = 40;

export function mergedInstructions(
  scope: Pick<Scope, "specs"> & { readonly catalog: Pick<Catalog, "snapshot"> },
): string {
  const specs = scope.specs();
  const told = [...specs.keys()].flatMap((server) => {
    const text = scope.catalog.snapshot.listings.get(server)?.about.instructions?.trim();
    return text ? [{ server, text }] : [];
  });
  // One server alone speaks for itself.
  if (specs.size === 1) return cut(told[0]?.text ?? "", LONGEST_OF_ALL);
  const parts = [head([...specs.keys()])];
  let left = LONGEST_OF_ALL;
  for (const { server, text } of told) {
    const part = `# ${server}\n${cut(text, LONGEST_OF_ONE)}`;
    if (left < part.length) {
      parts.push("(Further servers say more about themselves than fits here.)");
      break;
    }
    left -= part.length;
    parts.push(part);
  }
  return parts.join("\n\n");
}

function head(servers: readonly string[]): string {
  if (servers.length === 0) return "MetaMCP joins other MCP servers. None is configured yet.";
  const shown = servers.slice(0, NAMES_SHOWN).join(", ");
  const more = servers.length > NAMES_SHOWN ? ` and ${servers.length - NAMES_SHOWN} more` : "";
  return `MetaMCP joins several MCP servers; names of tools and prompts begin with the name of their server: ${shown}${more}.`;
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${clip(text, longest)} …`;
}
