/**
 * What the console says to the page of an app (MCP Apps, 2026-01-26): the call that it is shown for. It only
 * shows pages, so every request of one is refused. Pure.
 */

export interface ShownCall {
  readonly args: unknown;
  readonly result: unknown;
}

interface Answer {
  readonly messages: readonly object[];
  /** In pixels, as the page asks for it. */
  readonly height?: number;
}

const NOTHING: Answer = { messages: [] };
const METHOD_NOT_FOUND = -32_601;
const HEIGHTS = { least: 80, most: 800 };

/** The URI of the page that a definition of a tool names. */
export function pageIn(definition: unknown): string | undefined {
  const { _meta } = (definition ?? {}) as {
    readonly _meta?: {
      readonly ui?: { readonly resourceUri?: unknown };
      readonly "ui/resourceUri"?: unknown;
    };
  };
  const uris = [_meta?.ui?.resourceUri, _meta?.["ui/resourceUri"]];
  return uris.find((uri) => typeof uri === "string" && uri.startsWith("ui://")) as string | undefined;
}

export function answerToPage(message: unknown, { args, result }: ShownCall): Answer {
  if (typeof message !== "object" || message === null) return NOTHING;
  const { id, method, params } = message as { id?: unknown; method?: unknown; params?: { height?: unknown } };
  if (method === "ui/initialize") return { messages: [response(id, { result: HOST })] };
  if (method === "ping") return { messages: [response(id, { result: {} })] };
  if (method === "ui/notifications/initialized")
    return { messages: [notice("tool-input", { arguments: args }), notice("tool-result", result)] };
  if (method === "ui/notifications/size-changed" && Number.isFinite(params?.height))
    return {
      messages: [],
      height: Math.min(Math.max(params?.height as number, HEIGHTS.least), HEIGHTS.most),
    };
  if (id === undefined || method === undefined) return NOTHING;
  const error = { code: METHOD_NOT_FOUND, message: "The console only shows pages." };
  return { messages: [response(id, { error })] };
}

const HOST = {
  protocolVersion: "2026-01-26",
  hostInfo: { name: "metamcp-console", version: "1" },
  hostCapabilities: {},
  hostContext: { displayMode: "inline", platform: "web", containerDimensions: { maxHeight: HEIGHTS.most } },
};

const response = (id: unknown, answer: object): object => ({ jsonrpc: "2.0", id, ...answer });
const notice = (what: string, params: unknown): object => ({
  jsonrpc: "2.0",
  method: `ui/notifications/${what}`,
  params,
});
