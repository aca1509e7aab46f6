/** The list of well-known servers that ships with the package. Looks nothing up and starts nothing. */
import { readShipped } from "../../home/shipped.ts";
import { nearest } from "../../kernel/nearest.ts";
import type { Candidate } from "../candidate.ts";
import { entryOf, type Listed } from "./entry.ts";

export interface GalleryCandidate extends Candidate {
  readonly category: string;
}

let loaded: Promise<readonly GalleryCandidate[]> | undefined;

/** By name. Read once, when first asked for. */
export function galleryCandidates(): Promise<readonly GalleryCandidate[]> {
  loaded ??= read();
  return loaded;
}

async function read(): Promise<readonly GalleryCandidate[]> {
  const bytes = await readShipped("gallery/gallery.json");
  const { servers } = JSON.parse(bytes?.toString() ?? '{"servers":[]}') as { servers: readonly Listed[] };
  return servers.map(candidateOf);
}

function candidateOf(listed: Listed): GalleryCandidate {
  const { name, description, category, link, variables, verified } = listed;
  return {
    id: name,
    name,
    description,
    from: "gallery",
    version: listed.package?.version,
    publishers: [listed.package ? listed.package.identifier : hostOf(listed.remote.url)],
    verified,
    entry: entryOf(listed),
    variables,
    link,
    category,
  };
}

/** One whose address the user gives has no publisher. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

/** In the order of the alphabet. */
export async function galleryCategories(): Promise<readonly string[]> {
  return [...new Set((await galleryCandidates()).map(({ category }) => category))].toSorted();
}

/** What somebody may have meant who wrote `word`: names like it, else servers whose description has the word. */
export async function suggestions(word: string, most = 3): Promise<readonly string[]> {
  const all = await galleryCandidates();
  const alike = nearest(
    word,
    all.map(({ name }) => name),
    most,
  );
  if (alike.length > 0 || word.length < 3) return alike;
  const wanted = word.toLowerCase();
  return all
    .filter(({ description, category }) => `${category} ${description}`.toLowerCase().includes(wanted))
    .slice(0, most)
    .map(({ name }) => name);
}
