/** Servers that can be added, the requests of models for them, and the interface of the admin API to both. */
import {
  ANY_OBJECT,
  BOOLEAN,
  DATE,
  list,
  named,
  object,
  type Static,
  TEXT,
  TEXTS,
  type Written,
} from "../kernel/json-schema.ts";
import { NAMED_OBJECT } from "../kernel/named-object.ts";
import { ACTOR, type Actor } from "../kernel/principal.ts";
import type { Signal } from "../kernel/signal.ts";

export const SOURCES = ["registry", "gallery"] as const;

const BY_NAME = { type: "object", additionalProperties: TEXT } as const;

const VARIABLE = object(
  {
    name: TEXT,
    required: BOOLEAN,
    secret: BOOLEAN,
    set: { ...BOOLEAN, description: "it is set in the environment of the gateway" },
  },
  { description: TEXT },
);

/** The other members of an entry. */
const ENTRY = {
  env: BY_NAME,
  lifecycle: { const: "keep-alive" },
  sandbox: { description: "as in a config file" },
  openapi: TEXT,
  baseUrl: TEXT,
  type: { enum: ["http", "sse"] },
  url: TEXT,
  headers: BY_NAME,
} as const;

const OFFER = named(
  "Offer",
  object(
    {
      id: TEXT,
      name: { ...TEXT, description: "the name it would get" },
      description: TEXT,
      from: { enum: SOURCES },
      entry: {
        ...ANY_OBJECT,
        description:
          "what to send to POST /mcp-servers, with a name, without optional variables that are not set",
      },
      template: {
        ...ANY_OBJECT,
        description:
          "the same with all its variables, written as a dollar sign and the name in braces where a value goes",
      },
      fit: { type: "number" },
    },
    {
      title: TEXT,
      category: { ...TEXT, description: "only in the gallery" },
      version: TEXT,
      variables: list(VARIABLE),
      missing: { ...TEXTS, description: "variables that need a value" },
      refused: { ...TEXT, description: "why it must not run" },
      verified: BOOLEAN,
      link: TEXT,
      trust: { enum: ["trusted", "denied", "unknown"] },
      bundle: {
        ...object({ url: TEXT, sha256: TEXT }),
        description: "what is downloaded and unpacked before it runs",
      },
      runs: { ...TEXTS, description: "the command with its arguments, if it runs here" },
      touches: { ...TEXT, description: "what it may touch, if it runs here" },
      ...ENTRY,
    },
  ),
);

export const OFFERS = named(
  "Offers",
  object(
    { items: { ...list(OFFER), description: "best first" } },
    { notice: { ...TEXT, description: "if the registry could not be read completely" } },
  ),
);
export type Offers = Written<Static<typeof OFFERS>>;

export const REQUEST_STATES = ["pending", "approved", "refused"] as const;

export const PROVISION_REQUEST = named(
  "ProvisionRequest",
  object(
    {
      uuid: TEXT,
      state: { enum: REQUEST_STATES },
      at: DATE,
      endpoint: NAMED_OBJECT,
      principal: ACTOR,
      intent: { ...TEXT, description: "the task that it is for" },
      id: { ...TEXT, description: "its id in the registry or gallery" },
      name: TEXT,
      entry: { ...ANY_OBJECT, description: "exactly what would run" },
      missing: { ...TEXTS, description: "variables that are not set" },
    },
    {
      decidedAt: DATE,
      by: ACTOR,
      reason: TEXT,
      server: { ...NAMED_OBJECT, description: "the server that was added" },
    },
  ),
);
/** A request for a server at an endpoint, made by somebody who may not add it. */
export type ProvisionRequest = Static<typeof PROVISION_REQUEST>;

export interface ProvisionApproval {
  readonly by: Actor;
  readonly signal: Signal;
  /** A uuid or a name. Default: the first namespace of the endpoint. */
  readonly namespace?: string | undefined;
  /** Values of variables, by name. */
  readonly values?: Readonly<Record<string, string>> | undefined;
}

export interface OfferQuery {
  /** A task or the name of a server; empty for all. */
  readonly query: string;
  /** Search only this source. */
  readonly from?: (typeof SOURCES)[number] | undefined;
}

export interface ProvisioningControl {
  search(query: OfferQuery): Promise<Offers>;
  requests(): Promise<readonly ProvisionRequest[]>;
  /** Tests and adds the server, and records who approved it. Rejects with Refusal. */
  approve(uuid: string, approval: ProvisionApproval): Promise<ProvisionRequest>;
  refuse(
    uuid: string,
    decision: { readonly by: Actor; readonly reason?: string | undefined },
  ): Promise<ProvisionRequest>;
}
