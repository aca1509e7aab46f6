/** The list of well-known servers that ships with the package. Uses no network and starts nothing. */
import { readShipped } from "../../home/shipped.ts";
import { nearest } from "../../kernel/nearest.ts";
import type { Candidate } from "../candidate.ts";
import { entryOf, type GalleryEntry } from "./entry.ts";

export interface GalleryCandidate extends Candidate {
  readonly category: string;
}

let loaded: Promise<readonly GalleryCandidate[]> | undefined;

/** Sorted by name. The file is read once, on first use. */
export function galleryCandidates(): Promise<readonly GalleryCandidate[]> {
  loaded ??= read();
  return loaded;
}

async function read(): Promise<readonly GalleryCandidate[]> {
  const bytes = await readShipped("gallery/gallery.json");
  const { servers } = JSON.parse(bytes?.toString() ?? '{"servers":[]}') as {
    servers: readonly GalleryEntry[];
  };
  return servers.map(candidateOf);
}

function candidateOf(item: GalleryEntry): GalleryCandidate {
  const { name, description, category, link, variables, verified } = item;
  return {
    id: name,
    name,
    description,
    from: "gallery",
    version: item.package?.version,
    publishers: [
      item.package
        ? item.package.identifier
        : hostOf("url" in item.remote ? item.remote.url : (item.remote.baseUrl ?? item.remote.openapi)),
    ],
    verified,
    entry: entryOf(item),
    variables,
    link,
    category,
  };
}

/** Empty if the user provides the address: such a server has no publisher. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

/** Sorted alphabetically. */
export async function galleryCategories(): Promise<readonly string[]> {
  return [...new Set((await galleryCandidates()).map(({ category }) => category))].toSorted();
}

/** Server names similar to `word`, else servers whose description contains it. */
export async function suggestions(word: string, limit = 3): Promise<readonly string[]> {
  const all = await galleryCandidates();
  const similar = nearest(
    word,
    all.map(({ name }) => name),
    limit,
  );
  if (similar.length > 0 || word.length < 3) return similar;
  const wanted = word.toLowerCase();
  return all
    .filter(({ description, category }) => `${category} ${description}`.toLowerCase().includes(wanted))
    .slice(0, limit)
    .map(({ name }) => name);
}
