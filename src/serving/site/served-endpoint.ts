/** One served endpoint: its scope, layers and surface, and the transports in front of them. */

import type { Endpoint, Engine } from "../../engine/engine.ts";
import type { CompiledEndpoint } from "../../gateway/compile.ts";
import { type EndpointLayers, endpointLayers } from "../../gateway/endpoint/endpoint-layers.ts";
import { type EndpointScopeParts, endpointScope } from "../../gateway/endpoint/endpoint-scope.ts";
import {
  type ExplainRequest,
  type ExplainSources,
  explainTool,
  isUnlisted,
  unknownTool,
} from "../../gateway/endpoint/explain-tool.ts";
import type { Explained } from "../../gateway/endpoint/explanation.ts";
import type { Preview, TriedTool } from "../../gateway/try-control.ts";
import type { Origin } from "../../kernel/call.ts";
import { ConcurrencyLimiter } from "../../kernel/concurrency-limiter.ts";
import type { SharedCounts } from "../../kernel/counts.ts";
import type { MetaMcpError } from "../../kernel/errors.ts";
import { matchesPrincipal, type Principal } from "../../kernel/principal.ts";
import type { EndpointInfo } from "../../openapi/document.ts";
import { OpenApiEndpoint } from "../../openapi/openapi-endpoint.ts";
import type { Session } from "../../session/session.ts";
import { PublicTools } from "../../surface/aggregate/public-tools.ts";
import type { Scope } from "../../surface/scope.ts";
import { SURFACES } from "../../surface/surfaces.ts";
import { ACCESS_LOST, CREDENTIALS_REVOKED } from "../../transport/end-reasons.ts";
import type { Received } from "../../transport/http/http-server.ts";
import type { Owners } from "../../transport/http/owners.ts";
import { SseEndpoint } from "../../transport/http/sse-endpoint.ts";
import { StreamableEndpoint } from "../../transport/http/streamable-endpoint.ts";
import type { LocalClient } from "../../transport/local/local-client.ts";
import { LocalEndpoint } from "../../transport/local/local-endpoint.ts";
import type { Provisioning } from "../provision/provisioning.ts";
import { previewOf } from "../try/preview.ts";
import { requestFor } from "../try/request-for.ts";

export interface ServedParts extends Omit<EndpointScopeParts, "current"> {
  readonly engine: Pick<Engine, "open" | "scope">;
  readonly sessionTimeoutMs: number;
  readonly heartbeatMs: number;
  /** Finds servers that can be added. */
  readonly provisioning: Pick<Provisioning, "provision">;
  /** The limits for all endpoints together. */
  readonly limiter: ConcurrencyLimiter;
  /** The counts of all replicas; undefined for a gateway that counts for itself. */
  readonly counts?: SharedCounts | undefined;
  /** The sessions of an endpoint at all replicas; undefined for a gateway that is alone. */
  readonly owners?: ((endpoint: string) => Owners) | undefined;
}

export class ServedEndpoint {
  readonly #endpoint: Endpoint;
  readonly #streamable: StreamableEndpoint;
  readonly #sse: SseEndpoint;
  readonly #openapi: OpenApiEndpoint;
  /** Clients inside this process. */
  readonly local: LocalEndpoint;
  readonly #scope: Scope;
  readonly #tools: PublicTools;
  /** The layers around its requests, calls and lists. */
  readonly layers: EndpointLayers;
  readonly #parts: ServedParts;
  #compiled: CompiledEndpoint;

  constructor(compiled: CompiledEndpoint, parts: ServedParts) {
    this.#parts = parts;
    const { engine, clock, sessionTimeoutMs, heartbeatMs } = parts;
    const { uuid, name, spec } = compiled.object;
    this.#compiled = compiled;
    const own = { ...parts, current: () => this.#compiled };
    this.layers = endpointLayers(own, engine.scope.call);
    const narrowed = endpointScope(engine.scope, this.layers, own);
    const scope: Scope = {
      ...narrowed,
      provision: (...asked) =>
        parts.provisioning.provision({ scope: narrowed, endpoint: own.current }, ...asked),
    };
    this.#scope = scope;
    this.#tools = new PublicTools(scope);
    const limiter = new ConcurrencyLimiter(
      () => this.#compiled.object.spec.limits,
      parts.limiter,
      parts.counts && { counts: parts.counts, place: uuid },
    );
    this.#endpoint = engine.open({
      id: uuid,
      surface: SURFACES[spec.surface],
      scope,
      layers: this.layers,
      team: { limiter, introduction: () => introductionOf(this.#compiled) },
    });
    const { stateless, jsonResponse } = spec;
    const owners = parts.owners?.(uuid);
    this.#streamable = new StreamableEndpoint(
      { clock, stateless, jsonResponse, sessionTimeoutMs, heartbeatMs, owners },
      this.#endpoint,
    );
    this.#sse = new SseEndpoint(this.#endpoint, {
      clock,
      heartbeatMs,
      messagePath: `/metamcp/${name}/message`,
      owners,
    });
    this.local = new LocalEndpoint(this.#endpoint, { stateless });
    const { sessionless } = this.#endpoint;
    this.#openapi = new OpenApiEndpoint({
      scope,
      side: this.layers,
      sessionless,
      limiter,
      about: () => aboutOf(this.#compiled),
    });
  }

  /** Returns false if the change does not fit existing clients, so that the endpoint must be opened again. */
  update(compiled: CompiledEndpoint): boolean {
    if (shapeOf(compiled) !== shapeOf(this.#compiled)) return false;
    const isSame = compiled === this.#compiled;
    this.#compiled = compiled;
    if (!isSame) this.endWithoutRight();
    return true;
  }

  /** Lists of its clients may have changed. Resolves with the number of notified clients. */
  changed(): Promise<number> {
    return this.#endpoint.changed();
  }

  /** `subpath` is the path below the endpoint. Returns false if there is nothing at that path. */
  route(subpath: string, received: Received): boolean {
    const { method } = received.request;
    if (subpath === "mcp") this.#streamable.handle(received);
    else if (subpath === "sse" && method === "GET") this.#sse.listen(received);
    else if (subpath === "message" && method === "POST") this.#sse.take(received);
    else if (subpath.startsWith("api/") && this.#compiled.object.spec.openapi)
      this.#openapi.handle(subpath.slice("api/".length), received);
    else return false;
    return true;
  }

  /** The sender of a message to a session that was opened with a key in the URL. */
  senderOf(request: Received["request"]): Principal | undefined {
    return this.#sse.senderOf(request);
  }

  /** What a client of this principal would see. */
  preview(principal: Principal): Promise<Preview> {
    const { surface: chosen } = this.#compiled.object.spec;
    const { sessionless } = this.#endpoint;
    const around = { scope: this.#scope, chosen };
    return sessionless.run(principal, (origin) => previewOf(this.#endpoint.newSurface(), origin, around), {
      surface: "preview",
    });
  }

  /** Explains what would happen to a call of this principal. Lists servers that a call would list. */
  explain(principal: Principal, wanted: ExplainRequest): Promise<Explained> {
    const { engine, views, compiled } = this.#parts;
    const explaining = async (origin: Origin): Promise<Explained> => {
      const sources = (): ExplainSources => {
        const { listings } = engine.scope.view(origin).snapshot;
        const view = views.ofEndpoint(this.#compiled, (server) => listings.get(server));
        return { compiled: compiled(), layers: this.layers, view };
      };
      if (isUnlisted(sources(), wanted)) {
        const unlisted = await this.#scope.loader.loadMissing(this.#serversOf(wanted.tool), origin);
        if (unlisted.length > 0 && isUnlisted(sources(), wanted))
          return unknownTool(unlisted.map(({ server }) => server));
      }
      return await explainTool(sources(), wanted, origin);
    };
    return this.#endpoint.sessionless.run(principal, explaining, { surface: "preview" });
  }

  /** The servers that may have the tool: the named one, or all for a name of the aggregate surface. */
  #serversOf(tool: string): readonly string[] {
    const names = [...this.#scope.specs().keys()];
    const named = names.filter((name) => tool.startsWith(`${name}:`));
    return named.length > 0 ? named : names;
  }

  /** The request with which this client would call a tool. */
  requestFor(client: LocalClient, tool: TriedTool, args: Readonly<Record<string, unknown>>) {
    const { surface } = this.#compiled.object.spec;
    return requestFor(client, tool, args, { surface, tools: this.#tools });
  }

  /**
   * The credentials of this principal are no longer valid. Also ends calls that it makes as somebody else.
   */
  endOf(meant: Principal): void {
    const isMeant = (principal: Principal): boolean =>
      matchesPrincipal(meant, principal) || (!meant.key && meant.id === principal.actor?.id);
    this.#endOf(isMeant, CREDENTIALS_REVOKED);
  }

  /** Tokens of other issuers than these are no longer valid. */
  endOfOtherIssuers(trusted: ReadonlySet<string>): void {
    this.#endOf(({ issuer }) => issuer !== undefined && !trusted.has(issuer), CREDENTIALS_REVOKED);
  }

  /**
   * Rights may have changed, those of one account or of anybody: ends what belongs to principals that may no
   * longer use the endpoint.
   */
  endWithoutRight(account?: string): void {
    const { mayUse } = this.#parts;
    const hasNone = (principal: Principal): boolean =>
      (account === undefined || principal.id === account) && !mayUse(this.#compiled, principal);
    this.#endOf(hasNone, ACCESS_LOST);
  }

  #endOf(whose: (principal: Principal) => boolean, reason: MetaMcpError): void {
    this.local.endOf(whose, reason);
    this.#streamable.endOf(whose, reason);
    this.#sse.endOf(whose, reason);
    this.#openapi.endOf(whose, reason);
    // Tasks outlive sessions, so they must be ended separately.
    this.#scope.tasks.endAt(this.#compiled.object.uuid, whose);
  }

  get clients(): readonly Session[] {
    return this.#endpoint.clients;
  }

  /** The ids of sessions that can go on at another replica. */
  get movable(): readonly string[] {
    return this.#streamable.sessions;
  }

  /** Ends sessions here that go on at other replicas. Returns how many are left. */
  release(which: (session: Session) => boolean): number {
    return this.#streamable.release(which);
  }

  /** Returns false if there is no such session. */
  endSession(id: string): boolean {
    return this.#streamable.endSession(id) || this.#sse.endSession(id) || this.local.endSession(id);
  }

  /** Ends all its sessions and tasks. */
  end(): void {
    this.local.end();
    this.#streamable.end();
    this.#sse.end();
    this.#openapi.end();
    this.#scope.tasks.endAt(this.#compiled.object.uuid, () => true);
    void this.#endpoint.close();
  }
}

/** The settings that cannot change for existing clients. */
function shapeOf({ object: { name, spec } }: CompiledEndpoint): string {
  return JSON.stringify([name, spec.surface, spec.stateless, spec.jsonResponse, spec.code]);
}

function aboutOf(compiled: CompiledEndpoint): EndpointInfo {
  const { name, spec } = compiled.object;
  const { access } = spec;
  return {
    name,
    description: [spec.description.trim(), introductionOf(compiled)].filter(Boolean).join("\n\n"),
    url: `/metamcp/${name}/api`,
    access,
  };
}

function introductionOf({ namespaces }: CompiledEndpoint): string {
  const texts = namespaces.flatMap(({ object }) => object.spec.description?.trim() || []);
  return texts.join("\n\n");
}
