/**
 * Merges the instructions of all servers. Their length is limited, because they are part of every
 * conversation.
 */

import type { CatalogView } from "../../catalog/catalog-view.ts";
import { clip } from "../../catalog/read-tool.ts";
import { SKILLS_OFFER } from "../../catalog/skill.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { SKILL_SCHEME } from "../../kernel/skill-rules.ts";
import type { Scope } from "../scope.ts";
import { namesIn } from "../server-names.ts";
import { addressOf } from "./uris.ts";

const LONGEST_PER_SERVER = 2_000;
const LONGEST_TOTAL = 10_000;

export function mergedInstructions(
  scope: Pick<Scope, "specs" | "has">,
  { snapshot }: Pick<CatalogView, "snapshot">,
  asker: Asker,
): string {
  const servers = [...scope.specs().keys()].filter((server) => scope.has(server, asker));
  const known = servers.flatMap((server) => {
    const { instructions, offers } = snapshot.listings.get(server)?.about ?? {};
    const text = instructions?.trim();
    return text ? [{ server, text, offers }] : [];
  });
  // A single server needs no headings.
  if (servers.length === 1) return cut(known[0]?.text ?? "", LONGEST_TOTAL);
  const parts = [head(servers)];
  let left = LONGEST_TOTAL;
  for (const { server, text, offers } of known) {
    const part = `# ${server}\n${cut(withAddresses(text, server, offers), LONGEST_PER_SERVER)}`;
    if (left < part.length) {
      parts.push("(More instructions of other servers do not fit here.)");
      break;
    }
    left -= part.length;
    parts.push(part);
  }
  return parts.join("\n\n");
}

/** Instructions may name skills, which hosts then ask for: by the addresses that they have here. */
function withAddresses(text: string, server: string, offers = ""): string {
  const hasSkills = offers.split(" ").includes(SKILLS_OFFER);
  return hasSkills ? text.replaceAll(SKILL_SCHEME, addressOf(server, SKILL_SCHEME)) : text;
}

function head(servers: readonly string[]): string {
  if (servers.length === 0) return "Gateway to other MCP servers. No servers are configured yet.";
  return `Gateway to several MCP servers; names of tools and prompts start with the server name. ${namesIn(servers)}`;
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${clip(text, longest)} …`;
}
