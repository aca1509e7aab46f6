/** The flags and the file of `diff` and `apply`. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { Table } from "../../config/command-line.ts";
import { parseText } from "../../gateway/document/yaml.ts";
import type { Given } from "./client.ts";

export const DOCUMENT_FLAGS = {
  prune: {
    kind: "switch",
    env: false,
    help: "Remove what is not in the file: with --source what that source manages, else what no file manages.",
  },
  source: {
    kind: "text",
    env: false,
    value: "name",
    help: "Name of the file that manages these objects from then on.",
  },
  takeOver: { kind: "switch", env: false, help: "Also change what another file manages." },
} as const satisfies Table;

export async function documentRequest({ settings, positionals }: Given<typeof DOCUMENT_FLAGS>) {
  const [file = ""] = positionals;
  const { prune, source, takeOver } = settings;
  return {
    query: takeOver ? "?takeOver=true" : "",
    body: { document: await readDocument(file), prune, ...(source === undefined ? {} : { source }) },
  };
}

/** `-` is stdin. */
async function readDocument(file: string): Promise<unknown> {
  try {
    return await parseText(file === "-" ? await text(process.stdin) : await readFile(file, "utf8"));
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}
