/** `--out FILE` of `metamcp call`: saves the images, audio and files of a result. */
import { writeFile } from "node:fs/promises";
import { parse } from "node:path";
import { type Result, textOf } from "./call-surface.ts";

export interface Saved {
  readonly files: readonly string[];
  /** What is not in the files; empty if there is nothing. */
  readonly text: string;
}

/** The first goes to `file`, the next to `NAME-2.EXT` beside it. A result with text only is saved as text. */
export async function saveResult(result: Result, file: string): Promise<Saved> {
  const { content = [] } = result;
  const binary = content.flatMap(({ data, resource }) => data ?? resource?.blob ?? []);
  if (binary.length === 0) {
    await writeFile(file, `${textOf(result)}\n`);
    return { files: [file], text: "" };
  }
  const { dir, name, ext } = parse(file);
  const files = binary.map((_, at) => (at === 0 ? file : `${dir && `${dir}/`}${name}-${at + 1}${ext}`));
  for (const [at, base64] of binary.entries())
    await writeFile(files[at] as string, Buffer.from(base64, "base64"));
  const rest = content.filter(({ data, resource }) => (data ?? resource?.blob) === undefined);
  return { files, text: rest.length > 0 ? textOf({ content: rest }) : "" };
}
