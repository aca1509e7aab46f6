/** What the children of a fleet share, and whom they tell. */
import type { ServerSpec } from "../config/spec.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Events } from "../kernel/events.ts";
import type { ListSource } from "../kernel/list-key.ts";
import type { Log } from "../kernel/log.ts";
import type { Severity } from "../kernel/severity.ts";
import type { BreakerOptions } from "./breaker.ts";
import type { Ask } from "./connection-parts.ts";
import type { HowToLogIn } from "./explain.ts";
import type { Greeting } from "./handshake.ts";
import type { Connector } from "./link.ts";
import type { Pool } from "./pool.ts";

export interface ChildParts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  readonly breaker: () => BreakerOptions;
  readonly events?: Events | undefined;
  connector(spec: ServerSpec): Promise<Connector>;
  /** Which era a server spoke when it was last met, if that is known. */
  eraOf(server: string): string | undefined;
  /** A connection stands; calls wait until this is done. */
  greet(from: ListSource, greeting: Greeting, ask: Ask): Promise<void>;
  /** One of a child's lists changed: it said so by this method. */
  onListChanged(from: ListSource, method: string, ask: Ask): void;
  readonly howToLogIn?: HowToLogIn | undefined;
  /** From which severity on a session wants log messages, if it said so. */
  levelOf(session: string): Severity | undefined;
}
