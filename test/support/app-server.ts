/** Servers with MCP Apps: tools that name pages, and what reached the server. */
import { fixture, type Temp } from "./temp.ts";

export const PAGE = "ui://dashboard/main";
export const APPS = "io.modelcontextprotocol/ui";
/** The capabilities of a host that draws pages. */
export const HOST = { extensions: { [APPS]: { mimeTypes: ["text/html;profile=mcp-app"] } } };

export interface AppServer {
  /** Pages that its tools name, by tool. */
  readonly tools: Readonly<Record<string, string>>;
  /** Those of its tools that only apps may call. */
  readonly forApps?: readonly string[];
  /** Pages that it lists. */
  readonly lists?: readonly string[];
  readonly templates?: readonly string[];
  /** URIs that its results link to. */
  readonly links?: readonly string[];
}

/** The entry of a server that answers every read with a page of its own. */
export function appServer(
  folder: Temp,
  name: string,
  { tools, forApps = [], lists = [], templates = [], links }: AppServer,
) {
  const definitions = Object.entries(tools).map(([tool, uri]) => ({
    name: tool,
    inputSchema: { type: "object" },
    _meta: {
      ui: { resourceUri: uri, ...(forApps.includes(tool) && { visibility: ["app"] }) },
      "ui/resourceUri": uri,
    },
  }));
  const contents = [{ uri: PAGE, mimeType: "text/html;profile=mcp-app", text: `page of ${name}` }];
  folder.write(
    `${name}.json`,
    JSON.stringify({
      "tools/list": { tools: definitions },
      "resources/list": { resources: lists.map((uri) => ({ uri, name: uri })) },
      "resources/templates/list": {
        resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
      },
      "resources/read": { contents },
      ...(links && {
        "tools/call": { content: links.map((uri) => ({ type: "resource_link", uri, name: uri })) },
      }),
    }),
  );
  const declared = JSON.stringify({ [APPS]: {} });
  const journal = ["--journal", folder.path(`${name}.log`)];
  return fixture("--bare", "--extensions", declared, "--answers", folder.path(`${name}.json`), ...journal);
}

/** The reads and the tools of calls that reached the server. */
export function readsOf(folder: Temp, name: string) {
  return messages(folder, name, "resources/read");
}

export function callsOf(folder: Temp, name: string): readonly unknown[] {
  return messages(folder, name, "tools/call").map(({ tool }) => tool);
}

function messages(folder: Temp, name: string, wanted: string) {
  return folder
    .journal(`${name}.log`)
    .events("message")
    .filter(({ method }) => method === wanted);
}
