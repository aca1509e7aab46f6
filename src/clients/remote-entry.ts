/** Writes an endpoint of a gateway as a remote server for each client, for users to paste. */

import type { Keys } from "../config/field.ts";
import type { ClientSnippet, Remote } from "../kernel/client-snippet.ts";
import type { ClientProgram, Machine } from "./client.ts";
import { formatOf } from "./format-of.ts";
import { CLIENTS } from "./table.ts";

/** Claude Desktop can only start programs. This one forwards messages to an address. */
const BRIDGE = "mcp-remote";

type Write = (remote: Remote) => Keys;

const plain: Write = ({ url, headers }) => ({ url, ...optional("headers", headers) });
const typed =
  (type: string): Write =>
  (remote) => ({ type, ...plain(remote) });

/** By the id of the client. */
const REMOTE: Readonly<Record<string, Write>> = {
  "claude-desktop": ({ url, headers }) => ({
    command: "npx",
    args: [
      "-y",
      BRIDGE,
      url,
      ...Object.entries(headers).flatMap(([name, text]) => ["--header", `${name}:${text}`]),
    ],
  }),
  "claude-code": typed("http"),
  cursor: plain,
  vscode: typed("http"),
  windsurf: ({ url, headers }) => ({ serverUrl: url, ...optional("headers", headers) }),
  zed: plain,
  codex: ({ url, headers }) => ({ url, ...optional("http_headers", headers) }),
  gemini: ({ url, headers }) => ({ httpUrl: url, ...optional("headers", headers) }),
  opencode: typed("remote"),
  continue: ({ url, headers }) => ({
    type: "streamable-http",
    url,
    ...(Object.keys(headers).length > 0 ? { requestOptions: { headers } } : {}),
  }),
  cline: typed("streamableHttp"),
  copilot: (remote) => ({ ...typed("http")(remote), tools: ["*"] }),
};

/** Used for paths, because the user's machine is unknown. */
const ASSUMED_MACHINE: Machine = { platform: "linux", home: "~", env: {} };

export async function clientSnippets(remote: Remote): Promise<readonly ClientSnippet[]> {
  return await Promise.all(CLIENTS.map(async (client) => await clientSnippet(client, remote)));
}

async function clientSnippet(client: ClientProgram, remote: Remote): Promise<ClientSnippet> {
  const { id, title } = client;
  const [place] = client.places(ASSUMED_MACHINE);
  const file = place?.files.at(-1) ?? "";
  const format = await formatOf(file);
  const write = REMOTE[id] ?? plain;
  const entry = { ...write(remote), ...(remote.few && client.shown) };
  const text = await format.put({ path: file, text: "" }, [...client.at({}), remote.name], entry);
  return { client: id, title, file, text };
}

function optional(key: string, headers: Remote["headers"]): Keys {
  return Object.keys(headers).length > 0 ? { [key]: headers } : {};
}
