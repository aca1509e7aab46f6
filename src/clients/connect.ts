/** Adds MetaMCP to a client's file once and keeps everything else. Every change can be undone. */
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "../config/config-error.ts";
import { isOff } from "../config/consent.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { ClientProgram, StartCommand } from "./client.ts";
import { type ClientFile, faultOf, readBytes, textOf } from "./client-file.ts";
import { type EditOptions, editClientFile } from "./edit-client-file.ts";
import { formatOf } from "./format-of.ts";
import { isMetaMcp, METAMCP_NAME } from "./metamcp-entry.ts";
import { valueAt } from "./servers.ts";
import { unifiedDiff } from "./unified-diff.ts";

/** What `connect` would do. */
export type ConnectPlan =
  | { readonly state: "connected" }
  | { readonly state: "change"; readonly diff: string }
  | { readonly state: "fault"; readonly message: string };

export async function planConnect({ client, file }: ClientFile, start: StartCommand): Promise<ConnectPlan> {
  try {
    const bytes = await readBytes(file);
    const before = bytes && textOf(bytes, file);
    const after = await connectedText({ client, file }, before ?? "", start);
    if (after === before) return { state: "connected" };
    return {
      state: "change",
      diff: unifiedDiff({ path: file, before, after, shown: shownOf(client, start) }),
    };
  } catch (error) {
    return { state: "fault", message: faultOf(error, file) };
  }
}

/** The strings of our entry, which contain no secrets. */
export function shownOf(client: ClientProgram, start: StartCommand): readonly string[] {
  const texts = (value: unknown): readonly string[] => {
    if (typeof value === "string") return [value];
    return isKeys(value) || Array.isArray(value) ? Object.values(value).flatMap(texts) : [];
  };
  return texts(client.entry(start));
}

/** Returns whether the file was changed. */
export async function connect(
  clientFile: ClientFile,
  start: StartCommand,
  options: EditOptions,
): Promise<boolean> {
  return await editClientFile(
    clientFile,
    async (text) => ({ after: await connectedText(clientFile, text, start) }),
    options,
  );
}

async function connectedText(
  { client, file }: ClientFile,
  text: string,
  start: StartCommand,
): Promise<string> {
  const format = await formatOf(file);
  const target = { path: file, text };
  const doc = await format.parse(target);
  const at = client.at(doc);
  const servers = serversAt(doc, at, file);
  const elsewhere = Object.entries(servers).some(
    ([name, entry]) => name !== METAMCP_NAME && isMetaMcp(entry),
  );
  if (elsewhere) return text;
  const existing = Object.hasOwn(servers, METAMCP_NAME) ? servers[METAMCP_NAME] : undefined;
  if (existing !== undefined && !isMetaMcp(existing)) {
    throw new ConfigError(file, `it has another server named "${METAMCP_NAME}"; rename that one first`);
  }
  const entry = updated(isKeys(existing) ? existing : {}, client.entry(start));
  const after = isDeepStrictEqual(existing, entry)
    ? text
    : await format.put(target, [...at, METAMCP_NAME], entry);
  if (isTurnedOff(client, await format.parse({ path: file, text: after })))
    throw new ConfigError(
      file,
      `it turns off the server "${METAMCP_NAME}", so this client would not start it: turn it on there first`,
    );
  return after;
}

/** By the entry itself, or by a list of the client. */
function isTurnedOff(client: ClientProgram, doc: Keys): boolean {
  return client
    .servers(doc)
    .some(
      ({ name, project, entry }) =>
        name === METAMCP_NAME && project === undefined && isKeys(entry) && isOff(entry),
    );
}

function serversAt(doc: Keys, at: readonly string[], file: string): Keys {
  for (const [index] of at.entries()) {
    const found = valueAt(doc, at.slice(0, index + 1));
    if (found === undefined) return {};
    if (!isKeys(found)) throw new ConfigError(file, `"${at.slice(0, index + 1).join(".")}" is not an object`);
  }
  return valueAt(doc, at) as Keys;
}

/** Keeps the user's additions to our entry and renews the keys that start MetaMCP. */
function updated(existing: Keys, entry: Keys): Keys {
  const merge = (key: string, value: unknown): unknown => {
    const old = existing[key];
    return isKeys(old) && isKeys(value) ? { ...old, ...value } : value;
  };
  const keep = Object.hasOwn(existing, "tools") ? { tools: existing["tools"] } : {};
  const ours = Object.entries(entry).map(([key, value]) => [key, merge(key, value)]);
  return { ...existing, ...Object.fromEntries(ours), ...keep };
}
