/**
 * Opens links to HTTP APIs that an OpenAPI document describes. The document is read when the first link is
 * opened; nothing is asked but the hosts that the config names.
 */
import type { OpenApiSpec, ServerSpec } from "../../config/spec.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { revealed, secretsFrom } from "../../kernel/secret.ts";
import type { Authorize } from "../http/authorization.ts";
import { HttpClient } from "../http/http-client.ts";
import { ChildFailure, type Connector, type Link, type LinkEvents } from "../link.ts";
import { type Api, Apis } from "./apis.ts";
import type { KeyPlace } from "./compile.ts";
import { broken, DocumentSource } from "./document-source.ts";
import { hostLookup } from "./host-lookup.ts";
import { ApiLink } from "./link.ts";
import type { Credentials } from "./request.ts";
import { encoded } from "./serialize.ts";

export interface OpenApiConnectorOptions {
  /** METAMCP_HOME, where documents are cached. */
  readonly home: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly authorize?: Authorize;
}

export function createOpenApiConnector(options: OpenApiConnectorOptions): Connector {
  const apis = new Apis();
  return {
    async open(spec: ServerSpec, events: LinkEvents, signal: AbortSignal): Promise<Link> {
      if (spec.kind !== "openapi")
        throw new ChildFailure("other", "this server is not described by OpenAPI", { unsent: true });
      if (signal.aborted) throw failureOf(signal.reason);
      const source = new DocumentSource(spec, options);
      try {
        const api = await apis.open(spec, source, signal);
        checkBase(api, spec);
        report(api, spec, options.log);
        const { http, credentials } = clientOf(spec, api, options.authorize);
        const close = async (): Promise<void> => {
          await Promise.all([http.close(), source.close()]);
        };
        const refresh = async (closing: AbortSignal): Promise<Api> => await apis.open(spec, source, closing);
        return new ApiLink({ ...options, spec, api, http, credentials, refresh, close }, events);
      } catch (error) {
        await source.close();
        throw failureOf(error);
      }
    },
  };
}

/** The document may not choose the host that gets the credentials. */
function checkBase({ base }: Api, { openapi }: OpenApiSpec): void {
  if (base.url !== undefined) return;
  if (base.elsewhere !== undefined)
    throw broken(
      `the document is at ${new URL(openapi).origin} and says that the API is at ${base.elsewhere}: if that is right, write "baseUrl": "${base.elsewhere}" in the entry`,
    );
  throw broken('the document does not say where the API is: write "baseUrl" in the entry');
}

const MOST_SHOWN = 3;

function report({ leftOut }: Api, { name }: OpenApiSpec, log: Log): void {
  if (leftOut.length === 0) return;
  const more = leftOut.length > MOST_SHOWN ? `; and ${leftOut.length - MOST_SHOWN} more` : "";
  const reasons = leftOut.slice(0, MOST_SHOWN).join("; ");
  log.warn(`${name}: ${leftOut.length} operations are left out: ${reasons}${more}`, { server: name });
}

/**
 * The headers of the config are sent as headers, except a key that the API wants in the query or in a cookie.
 */
function clientOf(
  spec: OpenApiSpec,
  { keys, base }: Api,
  authorize: Authorize | undefined,
): { readonly http: HttpClient; readonly credentials: Credentials } {
  const placeOf = (name: string): KeyPlace | undefined =>
    keys.find((key) => key.name.toLowerCase() === name.toLowerCase());
  const all = Object.entries(revealed(spec.headers));
  const headers = all.filter(([name]) => name.toLowerCase() !== "cookie" && !placeOf(name));
  const query: [string, string][] = [];
  const cookies = all.filter(([name]) => name.toLowerCase() === "cookie").map(([, value]) => value);
  for (const [name, value] of all) {
    const key = placeOf(name);
    if (key?.in === "query") query.push([key.name, value]);
    else if (key) cookies.push(`${key.name}=${encoded(value)}`);
  }
  const dialled = { ...spec, url: base.url ?? spec.url, headers: secretsFrom(Object.fromEntries(headers)) };
  // Logins are stored by the address in the config.
  const http = new HttpClient(dialled, authorize && (() => authorize(spec)), undefined, hostLookup());
  return { http, credentials: { query, cookies } };
}

function failureOf(error: unknown): ChildFailure {
  if (error instanceof ChildFailure) return error;
  const message =
    error instanceof Error && error.name !== "AbortError" ? error.message : "connecting was cancelled";
  return new ChildFailure("other", message, { unsent: true, cause: error });
}
