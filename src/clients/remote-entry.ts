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

/** The machines of users. Which one it is, only the reader knows. */
const MACHINES = {
  linux: { platform: "linux", home: "~", env: {} },
  mac: { platform: "darwin", home: "~", env: {} },
  windows: { platform: "win32", home: "%USERPROFILE%", env: { APPDATA: "%APPDATA%" } },
} as const satisfies Readonly<Record<string, Machine>>;

/** By the id of the client: the command that adds a remote server. */
const COMMANDS: Readonly<Record<string, (remote: Remote) => string>> = {
  "claude-code": (remote) => addCommand("claude mcp add --transport http --scope user", remote),
  gemini: (remote) => addCommand("gemini mcp add --transport http --scope user", remote),
};

function addCommand(program: string, { name, url, headers }: Remote): string {
  const all = Object.entries(headers).map(([header, text]) => ` --header "${header}: ${text}"`);
  return `${program} ${name} ${url}${all.join("")}`;
}

export async function clientSnippets(remote: Remote): Promise<readonly ClientSnippet[]> {
  return await Promise.all(CLIENTS.map(async (client) => await clientSnippet(client, remote)));
}

async function clientSnippet(client: ClientProgram, remote: Remote): Promise<ClientSnippet> {
  const { id, title } = client;
  const fileOn = (machine: Machine): string => client.places(machine)[0]?.files.at(-1) ?? "";
  const [linux, mac, windows] = [MACHINES.linux, MACHINES.mac, MACHINES.windows].map(fileOn);
  const files = { linux: linux ?? "", mac: mac ?? "", windows: windows ?? "" };
  const file = files.linux;
  const format = await formatOf(file);
  const write = REMOTE[id] ?? plain;
  const entry = { ...write(remote), ...(remote.few && client.shown) };
  const text = await format.put({ path: file, text: "" }, [...client.at({}), remote.name], entry);
  const command = COMMANDS[id]?.(remote);
  return { client: id, title, file, files, text, entry, ...(command !== undefined && { command }) };
}

function optional(key: string, headers: Remote["headers"]): Keys {
  return Object.keys(headers).length > 0 ? { [key]: headers } : {};
}
