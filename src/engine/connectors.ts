/**
 * The connectors for stdio, HTTP, APIs and folders of skills. Each is loaded at its first use, so that a
 * start loads none of them.
 */
import type { HttpConnectorOptions } from "../child/http/connector.ts";
import { ChildFailure, type Connector, type LinkEvents } from "../child/link.ts";
import type { Placement } from "../child/placed/placement.ts";
import type { StdioConnectorOptions } from "../child/stdio/connector.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Env } from "../home/home.ts";
import type { SecretUnavailable } from "../secret-sources/unavailable.ts";
import type { Authorizations, LoginDataStoreOf } from "../server-logins/authorizations.ts";

export interface ConnectorParts extends StdioConnectorOptions, HttpConnectorOptions {
  /** METAMCP_HOME. Logins are stored there unless `logins` is given. */
  readonly home: string;
  readonly logins?: LoginDataStoreOf | undefined;
  /** The time by which the tokens of `logins` expire, in ms since 1970. Default: that of this machine. */
  readonly loginTime?: (() => number) | undefined;
  readonly placement?: Placement | undefined;
  /** Runs before a local server starts, which fails if it rejects. */
  readonly beforeStart?: ((spec: ServerSpec) => Promise<void>) | undefined;
}

export class LazyConnectors {
  readonly #parts: ConnectorParts;
  #stdio: Promise<Connector> | undefined;
  #skills: Promise<Connector> | undefined;
  #http: Promise<Connector> | undefined;
  #openapi: Promise<Connector> | undefined;
  #placed: Promise<Connector> | undefined;
  #authorizations: Authorizations | undefined;
  /** Kills all children; blocks until that is done. */
  killNow: () => void = () => {};
  /** Resolves when all processes that crashed children left behind have ended. */
  settled: () => Promise<void> = () => Promise.resolve();

  constructor(parts: ConnectorParts) {
    this.#parts = parts;
  }

  /** The connector for a server, wherever it runs. */
  reaching(spec: ServerSpec): Promise<Connector> {
    const { placement } = this.#parts;
    if (servesSkills(spec)) return this.for(spec);
    if (!placement || !isPlaced(spec)) return this.for(spec);
    this.#placed ??= this.#loadPlaced(placement);
    return this.#placed;
  }

  /** The connector for a server that runs here, or is reached from here. */
  async for(spec: ServerSpec): Promise<Connector> {
    const connector = await this.#reaching(spec);
    return spec.references ? withSecrets(connector, this.#parts.inherited) : connector;
  }

  #reaching(spec: ServerSpec): Promise<Connector> {
    if (servesSkills(spec)) {
      this.#skills ??= import("../child/skills/connector.ts").then(({ createSkillsConnector }) =>
        createSkillsConnector(this.#parts),
      );
      return this.#skills;
    }
    if (spec.kind === "stdio") {
      this.#stdio ??= this.#loadStdio();
      return this.#stdio;
    }
    if (spec.kind === "openapi") {
      this.#openapi ??= this.#loadOpenApi();
      return this.#openapi;
    }
    this.#http ??= this.#loadHttp();
    return this.#http;
  }

  /** Whether somebody logged in or out at this server since the last request to it. */
  loginChanged(spec: ServerSpec | undefined): boolean {
    return spec !== undefined && spec.kind !== "stdio" && (this.#authorizations?.changed(spec) ?? false);
  }

  async #loadStdio(): Promise<Connector> {
    const { createStdioConnector } = await import("../child/stdio/connector.ts");
    const connector = createStdioConnector(this.#parts);
    this.killNow = () => connector.killAllNow();
    this.settled = () => connector.settled();
    const { beforeStart } = this.#parts;
    if (!beforeStart) return connector;
    return {
      async open(spec, ...more) {
        await beforeStart(spec).catch((error: Error) => {
          throw new ChildFailure("other", error.message, { unsent: true, cause: error });
        });
        return await connector.open(spec, ...more);
      },
    };
  }

  async #loadPlaced(placement: Placement): Promise<Connector> {
    const { createPlacedConnector } = await import("../child/placed/connector.ts");
    return createPlacedConnector({ ...this.#parts, placement, connector: (spec) => this.for(spec) });
  }

  async #loadHttp(): Promise<Connector> {
    const [{ createHttpConnector }, logins] = await Promise.all([
      import("../child/http/connector.ts"),
      this.#loadLogins(),
    ]);
    return createHttpConnector({ ...this.#parts, authorize: (spec) => logins.for(spec) });
  }

  async #loadOpenApi(): Promise<Connector> {
    const [{ createOpenApiConnector }, logins] = await Promise.all([
      import("../child/openapi/connector.ts"),
      this.#loadLogins(),
    ]);
    return createOpenApiConnector({ ...this.#parts, authorize: (spec) => logins.for(spec) });
  }

  async #loadLogins(): Promise<Authorizations> {
    const { Authorizations: Logins, tokensInFolder } = await import("../server-logins/authorizations.ts");
    const { home, logins: keep = tokensInFolder(home), loginTime = Date.now } = this.#parts;
    this.#authorizations ??= new Logins(keep, loginTime);
    return this.#authorizations;
  }
}

function servesSkills(spec: ServerSpec): boolean {
  return spec.kind === "stdio" && spec.skillFolders !== undefined;
}

/** Gets the secrets of a server anew for each connection, and for the next one after a login was refused. */
function withSecrets(connector: Connector, env?: Env): Connector {
  return {
    async open(spec, events, signal) {
      const { resolveSecrets } = await import("../secret-sources/resolve.ts");
      const resolved = await resolveSecrets(spec, env, signal).catch((error: SecretUnavailable) => {
        const category = error.offline ? "offline" : "other";
        throw new ChildFailure(category, `${error.message}.`, { unsent: true, needsFix: !error.offline });
      });
      return await connector.open(resolved, renewedAfterRefusal(events), signal);
    },
  };
}

function renewedAfterRefusal(events: LinkEvents): LinkEvents {
  return {
    onMessage: (message, via) => events.onMessage(message, via),
    onClosed: (failure) => events.onClosed(failure),
    onMoved: () => events.onMoved?.(),
    onFailed(id, failure) {
      events.onFailed(id, failure);
      if (failure.category === "auth") events.onMoved?.();
    },
  };
}

/** What belongs to one session runs where the session is. */
function isPlaced({ placement, isolation }: ServerSpec): boolean {
  return placement === "one" && isolation !== "session";
}
