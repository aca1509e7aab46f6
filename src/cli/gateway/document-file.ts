/** Shared by `diff`, `test` and `apply`: their flags, and sending the document. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { Writes } from "../../admin/route-types.ts";
import type { Table } from "../../config/command-line.ts";
import { readText, type TextDocument } from "../../gateway/document/yaml.ts";
import { GatewayClient, GatewayRefusal, type Given } from "./client.ts";

export const DOCUMENT_FLAGS = {
  prune: {
    kind: "switch",
    env: false,
    help: "Delete objects that are not in the file: those of --source, or without it those that no file manages.",
  },
  source: {
    kind: "text",
    env: false,
    value: "name",
    help: "Record these objects as managed by this name.",
  },
  takeOver: { kind: "switch", env: false, help: "Also change objects that another file manages." },
} as const satisfies Table;

/** Sends the document and returns the answer. Errors in the document are shown with the line of the file. */
export async function sendDocument<
  R extends "POST /config/diff" | "POST /config/test" | "POST /config/apply",
>(route: R, { settings, positionals }: Given<typeof DOCUMENT_FLAGS>): Promise<Writes[R]["answer"]> {
  const client = new GatewayClient(settings);
  const [file = ""] = positionals;
  const { prune, source, takeOver } = settings;
  const { value, problemText } = await readDocument(file);
  // The gateway says what is wrong with it.
  const document = value as Writes[R]["body"]["document"];
  const body = { document, prune, ...(source === undefined ? {} : { source }) };
  try {
    return await client.send(route, body, { takeOver: takeOver || undefined });
  } catch (error) {
    const faults = error instanceof GatewayRefusal ? faultsIn(error) : [];
    throw faults.length > 0 ? new Error(`${file}: ${problemText(faults)}`, { cause: error }) : error;
  }
}

const DOCUMENT = "/document";

/** The errors in the document, with paths relative to it. */
function faultsIn({ errors }: GatewayRefusal): GatewayRefusal["errors"] {
  return errors.flatMap(({ path, message }) =>
    path === DOCUMENT || path.startsWith(`${DOCUMENT}/`)
      ? [{ path: path.slice(DOCUMENT.length), message }]
      : [],
  );
}

/** Reads the file, or stdin for `-`. */
async function readDocument(file: string): Promise<TextDocument> {
  try {
    return await readText(file === "-" ? await text(process.stdin) : await readFile(file, "utf8"));
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}
