/** The title and the shortened instructions of a server, for the search index. */
import type { About } from "./about.ts";
import { clip } from "./read-tool.ts";
import type { ServerText } from "./search/strategy.ts";

export function serverText({ title, instructions }: About = {}): ServerText {
  const description = clip(instructions);
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  };
}
