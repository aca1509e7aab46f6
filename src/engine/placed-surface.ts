/**
 * What another replica sees of a server that runs here: the server as it is. Rules, limits and names are
 * applied at the replica that has the client.
 */

import type { HandshakeResult } from "../child/handshake.ts";
import { ChildFailure } from "../child/link.ts";
import { PLACED_FAILURE } from "../child/placed/placement.ts";
import type { PlacedFailure } from "../child/placed/remote-link.ts";
import type { Call, Origin, ServerId } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { EMPTY_OBJECT, fromRaw, type Raw } from "../kernel/raw.ts";
import { isSeverity } from "../kernel/severity.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";
import { member } from "../rpc/slice.ts";
import type { ClientRequest, Surface } from "../surface/surface.ts";
import type { DirectFleet } from "./engine.ts";

export interface PlacedSurfaceParts {
  readonly fleet: DirectFleet;
  /** Whether the server runs here and stays. */
  readonly runs: (server: ServerId) => boolean;
  /** Whether the tool runs as a task. */
  readonly taskOf: (server: ServerId, tool: string) => Call["task"];
}

/** The other replica then opens a link to where the server is by then, and sends the request there. */
const MOVED: PlacedFailure = {
  category: "other",
  message: "the server moves to another replica",
  unsent: true,
  sessionLost: true,
};

export class PlacedSurface implements Surface {
  readonly #server: ServerId;
  readonly #parts: PlacedSurfaceParts;
  #handshake: HandshakeResult | undefined;

  constructor(server: ServerId, parts: PlacedSurfaceParts) {
    this.#server = server;
    this.#parts = parts;
  }

  async prepare(origin: Origin): Promise<void> {
    try {
      this.#handshake = await this.#parts.fleet.shakeHands(this.#server, origin);
    } catch (error) {
      throw told(error);
    }
  }

  /** Without tasks, which the connection here runs itself. */
  get capabilities(): Readonly<Record<string, unknown>> {
    const declared = (this.#handshake && fromRaw(this.#handshake.capabilities)) as Record<string, unknown>;
    const { tasks: _, ...capabilities } = declared ?? {};
    return capabilities;
  }

  get serverInfo(): Readonly<Record<string, unknown>> {
    const { title = "", version = "" } = this.#handshake ?? {};
    return { name: title, version };
  }

  instructions(): string {
    return this.#handshake?.instructions ?? "";
  }

  async handle(request: ClientRequest): Promise<Raw> {
    try {
      this.#requireHere();
      if (request.method === "logging/setLevel") return this.#setLevel(request);
      return await this.#parts.fleet.handle(this.#callOf(request));
    } catch (error) {
      throw told(error);
    }
  }

  notified(method: string, params: Raw | undefined, origin: Origin): void {
    this.#parts.fleet.notify(origin, method, params);
  }

  #requireHere(): void {
    if (!this.#parts.runs(this.#server)) throw failed(MOVED);
  }

  #setLevel({ params, origin }: ClientRequest): Raw {
    const level = params && member(params, "level");
    const wanted = level && fromRaw(level);
    if (!isSeverity(wanted)) throw RpcError.of(INVALID_PARAMS, `Unknown log level: ${String(wanted)}`);
    this.#parts.fleet.setLogLevel(origin.session, wanted);
    return EMPTY_OBJECT;
  }

  /** The replica that has the client decides whether it is sent again. */
  #callOf({ method, params = EMPTY_OBJECT, origin, signal, uplink }: ClientRequest): Call {
    const name = method === "tools/call" ? member(params, "name") : undefined;
    return {
      server: this.#server,
      method,
      params,
      origin,
      signal,
      uplink,
      deadline: Number.POSITIVE_INFINITY,
      repeat: "unsafe",
      task: name && this.#parts.taskOf(this.#server, String(fromRaw(name))),
    };
  }
}

/** The error as the other replica understands it. Answers of the server stay as they are. */
function told(error: unknown): unknown {
  if (!MetaMcpError.is(error)) return error;
  const { cause, code, context } = error;
  const unsent = !context.mayHaveRun && code !== "cancelled";
  if (!(cause instanceof ChildFailure)) return failed({ category: "other", message: error.message, unsent });
  const { category, message, needsFix } = cause;
  // The link to this replica stays open, whatever became of the process.
  const lost = category === "stdio-exit";
  return failed({ category: lost ? "offline" : category, message, needsFix, unsent });
}

function failed(failure: PlacedFailure): RpcError {
  return RpcError.of(INTERNAL_ERROR, failure.message, { [PLACED_FAILURE]: failure });
}
