/** What a server says of itself, as it is searched. */
import type { About } from "./about.ts";
import { clip } from "./read-tool.ts";
import type { ServerText } from "./search/strategy.ts";

export function textOf({ title, instructions }: About = {}): ServerText {
  const description = clip(instructions);
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  };
}
