/**
 * Finds the skills of a view that fit a question. They have an index of their own, so that they never change
 * how tools are ranked.
 */
import { perObject } from "../kernel/per-object.ts";
import { toRaw } from "../kernel/raw.ts";
import { SKILL_FILE } from "../kernel/skill-rules.ts";
import type { Item } from "./item.ts";
import { readTool } from "./read-tool.ts";
import type { SearchStrategy } from "./search/strategy.ts";
import { skillOf } from "./skill.ts";
import type { Snapshot } from "./snapshot.ts";

export interface FoundSkill {
  readonly skill: Item;
  readonly confidence: number;
}

/** Less likely ones would only distract: a question for tools need not find a skill. */
const MIN_CONFIDENCE = 0.2;

interface Index {
  readonly search: SearchStrategy;
  /** By server and path. */
  readonly skills: ReadonlyMap<string, Item>;
}

/** Best first. */
export async function findSkills(
  snapshot: Snapshot,
  query: string,
  { limit, server }: { readonly limit: number; readonly server?: string | undefined },
): Promise<readonly FoundSkill[]> {
  const index = await indexOf(snapshot);
  if (!index) return [];
  const scope = (of: string): boolean => server === undefined || of === server;
  const hits = await index.search.search(query, { limit, scope });
  return hits.flatMap(({ server: of, name, confidence }) => {
    const skill = confidence >= MIN_CONFIDENCE ? index.skills.get(keyOf(of, name)) : undefined;
    return skill ? [{ skill, confidence }] : [];
  });
}

const indexOf = perObject(async ({ listings }: Snapshot): Promise<Index | undefined> => {
  if ([...listings.values()].every(({ skills = [] }) => skills.length === 0)) return undefined;
  const { createSearch } = await import("./search/search.ts");
  const search = createSearch();
  const skills = new Map<string, Item>();
  for (const [server, { skills: listed = [] }] of listings) {
    const documents = listed.flatMap((skill) => {
      const name = pathOf(skill.name);
      const { name: title, description } = skillOf(skill);
      skills.set(keyOf(server, name), skill);
      return readTool(server, toRaw({ name, title, description })) ?? [];
    });
    search.update(server, documents);
  }
  return { search, skills };
});

const keyOf = (server: string, name: string): string => JSON.stringify([server, name]);

/** The words of the address that are not the same in all. */
function pathOf(uri: string): string {
  return uri.slice(uri.indexOf("://") + 3, -SKILL_FILE.length - 1).slice(-200);
}
