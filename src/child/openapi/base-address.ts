/**
 * The address of the API: from the config, else from the document if it is on the document's own origin. A
 * document cannot lead requests, and the keys in them, to another host.
 */
import { DocumentFault, elementsOf, inside, type Located, membersOf, recordOf, textOf } from "./documents.ts";
import type { Operation } from "./operation.ts";

export interface BaseAddress {
  /** Undefined if the config must name it. */
  readonly url: string | undefined;
  /** Where the document says that the API is, if the config must name it. */
  readonly elsewhere?: string;
}

export function baseOf(root: Located, configured: string | undefined): BaseAddress {
  if (configured !== undefined) return { url: configured };
  const written = serversOf(root);
  // Without servers the API is at the root of the document's host.
  const servers = (written.length > 0 ? written : ["/"]).flatMap((one) => absolute(one, root.uri) ?? []);
  const url = servers.find((one) => sameOrigin(one, root.uri));
  const [elsewhere] = servers;
  return { url, ...(url === undefined && elsewhere !== undefined && { elsewhere }) };
}

/** The address for one operation. Throws DocumentFault if it is on another host. */
export function operationBase({ servers, at }: Operation, { url: base }: BaseAddress): string {
  const written = serversIn(servers);
  if (written.length === 0 || base === undefined) return base ?? "";
  const found = written.flatMap((one) => absolute(one, base) ?? []).find((one) => sameOrigin(one, base));
  if (found !== undefined) return found;
  throw new DocumentFault(
    `it is at ${written[0]?.slice(0, 200)}, and only ${new URL(base).origin} is asked: add an entry with that baseUrl for it`,
    at,
  );
}

function serversOf(root: Located): readonly string[] {
  const { host, basePath, schemes, swagger } = recordOf(root);
  if (swagger === undefined) return serversIn(inside(root, "servers"));
  const path = textOf(basePath) ?? "/";
  if (typeof host !== "string" || host === "") return [path];
  const known: unknown[] = Array.isArray(schemes) ? schemes : [];
  const scheme = known.includes("https") ? "https" : (textOf(known[0]) ?? "https");
  return [`${scheme}://${host}${path.startsWith("/") ? path : `/${path}`}`];
}

function serversIn(at: Located | undefined): readonly string[] {
  return elementsOf(at).flatMap((server) => {
    const url = textOf(recordOf(server)["url"]);
    if (url === undefined) return [];
    const variables = new Map(membersOf(inside(server, "variables")));
    const filled = url.replaceAll(/\{([^}]*)\}/g, (whole, name: string) => {
      const value = recordOf(variables.get(name))["default"];
      return typeof value === "string" || typeof value === "number" ? String(value) : whole;
    });
    return /[{}]/.test(filled) ? [] : [filled];
  });
}

function absolute(address: string, from: string): string | undefined {
  if (!URL.canParse(address, from)) return undefined;
  const url = new URL(address, from);
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" ? url.href : undefined;
}

function sameOrigin(a: string, b: string): boolean {
  return /^https?:/.test(b) && new URL(a).origin === new URL(b).origin;
}
