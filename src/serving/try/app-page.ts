/** Reads the page of an app as a client of the endpoint that draws pages. */

import { APPS } from "../../catalog/tool-app.ts";
import type { Principal } from "../../kernel/principal.ts";
import { fromRaw, toRaw } from "../../kernel/raw.ts";
import { IMPLEMENTATION } from "../../kernel/version.ts";
import { METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { addressOf } from "../../surface/aggregate/uris.ts";
import type { LocalClient } from "../../transport/local/local-client.ts";
import type { LocalEndpoint } from "../../transport/local/local-endpoint.ts";

interface Content {
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

const TYPE = "text/html";

/** Rejects with RpcError, also if there is no HTML. `server` is its name at the endpoint. */
export async function appPage(
  endpoint: Pick<LocalEndpoint, "connect" | "left">,
  principal: Principal,
  { server, uri }: { readonly server: string; readonly uri: string },
): Promise<string> {
  const client: LocalClient = endpoint.connect(principal, {
    about: { ...IMPLEMENTATION, name: "metamcp-console" },
    capabilities: { extensions: { [APPS]: { mimeTypes: [`${TYPE};profile=mcp-app`] } } },
    onRequest: () => Promise.reject(RpcError.of(METHOD_NOT_FOUND, "a page is only shown")),
    onNotification: () => {},
  });
  try {
    await client.begin();
    const result = await client.request("resources/read", toRaw({ uri: addressOf(server, uri) }));
    const { contents = [] } = fromRaw(result) as { readonly contents?: readonly Content[] };
    const page = contents.find(({ mimeType = "" }) => mimeType.startsWith(TYPE));
    if (page?.text !== undefined) return page.text;
    if (page?.blob !== undefined) return Buffer.from(page.blob, "base64").toString();
    throw RpcError.of(METHOD_NOT_FOUND, "the server sent no HTML page");
  } finally {
    endpoint.left(client);
  }
}
