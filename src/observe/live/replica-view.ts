/** The gateways on one store, for the admin API. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { BOOLEAN, COUNT, DATE, named, object, type Static, TEXT } from "../../kernel/json-schema.ts";

export const REPLICA = named(
  "Replica",
  object(
    {
      id: TEXT,
      self: { ...BOOLEAN, description: "the one that answers" },
      version: TEXT,
      state: {
        enum: ["serving", "draining", "silent"],
        description: "silent: no sign of life for 4 s; it is gone after 8 s",
      },
      since: DATE,
      lastSeen: DATE,
      sessions: COUNT,
      processes: { ...COUNT, description: "running processes of local servers" },
      forwarded: {
        type: "number",
        minimum: 0,
        maximum: 1,
        description: "share of its requests in sessions that it passed on to another one",
      },
      lag: { ...COUNT, description: "by how many revisions it is behind the newest one" },
    },
    { address: { ...TEXT, description: "where the others reach it; missing if it shares no sessions" } },
  ),
);
export type ReplicaView = Static<typeof REPLICA>;

/** A request that another gateway must answer. */
export interface PassedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer | undefined;
}

/** The answers of all other replicas to one question. */
export interface Answers<T> {
  readonly answers: readonly { readonly replica: string; readonly value: T }[];
  /** Those that did not answer in time. */
  readonly silent: readonly string[];
  /** Those of the silent whose version does not know the question. */
  readonly unknowing: readonly string[];
}

export interface ReplicaAsks {
  /** Never rejects. */
  askAll<T>(name: string, body?: unknown, withinMs?: number): Promise<Answers<T>>;
  /** From now on this replica answers questions of that name. */
  answer(name: string, answerer: (body: unknown) => unknown): void;
}

export interface ReplicaControl {
  /** The id of this one among those on the store. */
  readonly self: string;
  /** Asks the others; undefined if this one shares nothing with them. */
  readonly asks: ReplicaAsks | undefined;
  list(): readonly ReplicaView[];
  /** Why sessions and limits are not shared with other gateways on the store; undefined if they are. */
  readonly unshared: string | undefined;
  /**
   * Has another gateway answer. "later": it lives and cannot be reached. Absent if they share nothing.
   */
  readonly passOn?:
    | ((replica: string, passed: PassedRequest) => Promise<"answered" | "gone" | "later">)
    | undefined;
  /** The address of the client of a request that another gateway passed on; undefined for any other. */
  clientOf?(request: object): string | undefined;
}

/** Of a gateway that has its store for itself. */
export const ALONE: ReplicaControl = { self: "", asks: undefined, list: () => [], unshared: undefined };
