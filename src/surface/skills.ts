/** Skills for models on surfaces with tools only: found with the tools, and read with the own tool `read`. */
import type { Item } from "../catalog/item.ts";
import { skillOf } from "../catalog/skill.ts";
import { findSkills } from "../catalog/skill-search.ts";
import { summarize } from "../catalog/summary.ts";
import type { Origin } from "../kernel/call.ts";
import { visible } from "../kernel/visible.ts";
import { addressOf } from "./aggregate/uris.ts";
import { hasBuiltin, READ } from "./builtin/tools.ts";
import type { ScopeCatalog } from "./scope.ts";

/** Few, because they stand beside the tools that were asked for. */
const MOST_FOUND = 3;
const LIST_WAIT_MS = 3_000;

export interface ShownSkill {
  readonly name: string;
  readonly server: string;
  readonly description: string;
  /** The address under which it is read. */
  readonly uri: string;
}

/** The skills that fit, best first; none for a client that could not read them. */
export async function skillsFor(
  scope: ScopeCatalog,
  query: string,
  {
    origin,
    server,
    length,
  }: { readonly origin: Origin; readonly server?: string | undefined; readonly length: number },
): Promise<readonly (ShownSkill & { readonly confidence: number })[]> {
  if (!hasBuiltin(scope, READ.name, origin)) return [];
  // A server lists its skills shortly after its tools. None is started for them.
  const connected = scope.servers(origin).flatMap(({ connected: is, name }) => (is ? [name] : []));
  await scope.loader.loadMissing(connected, origin, LIST_WAIT_MS, "skills");
  const found = await findSkills(scope.view(origin).snapshot, query, { limit: MOST_FOUND, server });
  return found.map(({ skill, confidence }) => ({ ...shownSkill(skill, length), confidence }));
}

/** `length`: the longest description. A server can write anything there. */
export function shownSkill(skill: Item, length: number): ShownSkill {
  const { name, description } = skillOf(skill);
  const { server } = skill;
  return {
    name,
    server,
    description: visible(summarize(description, length)),
    uri: addressOf(server, skill.name),
  };
}
