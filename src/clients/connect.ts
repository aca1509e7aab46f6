/** Puts MetaMCP into the file of a client: once, beside what is there. Writes nothing that could not be undone. */
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "../config/config-error.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { ClientProgram, Own } from "./client.ts";
import { faultOf, readBytes, type Spot, textOf } from "./client-file.ts";
import { type EditOptions, editClientFile } from "./edit-client-file.ts";
import { formatOf } from "./format-of.ts";
import { isOwn, OWN_NAME } from "./own.ts";
import { dig } from "./servers.ts";
import { unifiedDiff } from "./unified-diff.ts";

/** What connecting would do. */
export type ConnectPlan =
  | { readonly state: "connected" }
  | { readonly state: "change"; readonly diff: string }
  | { readonly state: "fault"; readonly message: string };

export async function planConnect({ client, file }: Spot, own: Own): Promise<ConnectPlan> {
  try {
    const bytes = await readBytes(file);
    const before = bytes && textOf(bytes, file);
    const after = await connectedText({ client, file }, before ?? "", own);
    if (after === before) return { state: "connected" };
    return { state: "change", diff: unifiedDiff({ path: file, before, after, shown: shownOf(client, own) }) };
  } catch (error) {
    return { state: "fault", message: faultOf(error, file) };
  }
}

/** The texts of our own entry: no secret among them. */
export function shownOf(client: ClientProgram, own: Own): readonly string[] {
  const texts = (value: unknown): readonly string[] => {
    if (typeof value === "string") return [value];
    return isKeys(value) || Array.isArray(value) ? Object.values(value).flatMap(texts) : [];
  };
  return texts(client.entry(own));
}

/** Whether there was something to do. */
export async function connect(spot: Spot, own: Own, options: EditOptions): Promise<boolean> {
  return await editClientFile(
    spot,
    async (text) => ({ after: await connectedText(spot, text, own) }),
    options,
  );
}

async function connectedText({ client, file }: Spot, text: string, own: Own): Promise<string> {
  const format = await formatOf(file);
  const target = { path: file, text };
  const doc = await format.parse(target);
  const at = client.at(doc);
  const servers = serversAt(doc, at, file);
  const elsewhere = Object.entries(servers).some(([name, entry]) => name !== OWN_NAME && isOwn(entry));
  if (elsewhere) return text;
  const there = Object.hasOwn(servers, OWN_NAME) ? servers[OWN_NAME] : undefined;
  if (there !== undefined && !isOwn(there)) {
    throw new ConfigError(file, `it has another server named "${OWN_NAME}"; rename that one first`);
  }
  const entry = updated(isKeys(there) ? there : {}, client.entry(own));
  return isDeepStrictEqual(there, entry) ? text : await format.put(target, [...at, OWN_NAME], entry);
}

function serversAt(doc: Keys, at: readonly string[], file: string): Keys {
  for (const [index] of at.entries()) {
    const found = dig(doc, at.slice(0, index + 1));
    if (found === undefined) return {};
    if (!isKeys(found)) throw new ConfigError(file, `"${at.slice(0, index + 1).join(".")}" is not an object`);
  }
  return dig(doc, at) as Keys;
}

/** What the user added to our entry stays; what starts us is as it must be now. */
function updated(there: Keys, entry: Keys): Keys {
  const merge = (key: string, value: unknown): unknown => {
    const old = there[key];
    return isKeys(old) && isKeys(value) ? { ...old, ...value } : value;
  };
  const keep = Object.hasOwn(there, "tools") ? { tools: there["tools"] } : {};
  const ours = Object.entries(entry).map(([key, value]) => [key, merge(key, value)]);
  return { ...there, ...Object.fromEntries(ours), ...keep };
}
