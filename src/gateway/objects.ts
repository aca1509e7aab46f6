/**
 * The stored objects of a gateway. Immutable: an unchanged object stays the same JavaScript object, so
 * changes are found by identity.
 */
import type {
  EndpointFields,
  NamespaceFields,
  ServerFields,
  SettingsFields,
  WebhookFields,
} from "./schemas.ts";

export const KINDS = ["server", "namespace", "endpoint", "settings"] as const;
export type ObjectKind = (typeof KINDS)[number];

/** An encrypted secret. */
export interface Sealed {
  readonly sealed: string;
}

/** A sealed value, or a reference such as `${TOKEN}`, which is not secret itself. */
export type StoredSecret = string | Sealed;

/** A text that contains a secret, encrypted as a whole, with the form in which it is shown. */
export interface SealedText extends Sealed {
  readonly shown: string;
}

/** An argument or a URL, encrypted only if it contains a secret. */
export type StoredText = string | SealedText;

/** A webhook. Its URL may contain a token, so it is sealed as a whole. */
export interface StoredWebhook extends Omit<WebhookFields, "url" | "secret"> {
  readonly url: SealedText;
  readonly secret?: StoredSecret;
}

type OAuthSecret = "clientSecret" | "privateKey";
type OAuthFields = Exclude<NonNullable<ServerFields["oauth"]>, boolean>;

export interface StoredServer
  extends Omit<ServerFields, "name" | "args" | "url" | "openapi" | "baseUrl" | "env" | "headers" | "oauth"> {
  readonly args?: readonly StoredText[];
  readonly url?: StoredText;
  readonly openapi?: StoredText;
  readonly baseUrl?: StoredText;
  readonly env?: Readonly<Record<string, StoredSecret>>;
  readonly headers?: Readonly<Record<string, StoredSecret>>;
  readonly oauth?:
    | boolean
    | (Omit<OAuthFields, OAuthSecret> & { readonly [K in OAuthSecret]?: StoredSecret });
}

/** The fields of each kind, without the name. References are uuids. */
export interface Specs {
  readonly server: StoredServer;
  readonly namespace: Omit<NamespaceFields, "name">;
  readonly endpoint: Omit<EndpointFields, "name">;
  readonly settings: Omit<SettingsFields, "secrets" | "notify"> & {
    readonly notify?: readonly StoredWebhook[];
    readonly secrets?: Readonly<Record<string, StoredSecret>>;
  };
}

export interface StoredObject<K extends ObjectKind = ObjectKind> {
  readonly kind: K;
  readonly uuid: string;
  readonly name: string;
  readonly spec: Specs[K];
  /** `api`, or `file:NAME`. */
  readonly managedBy: string;
  /** The file that managed it before the API took it over. That file must not change it. */
  readonly takenFrom?: string;
  /** The revision that last changed it. */
  readonly revision: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** By uuid, sorted by uuid. That is the order of creation, and the same in every process. */
export type ObjectsOf<K extends ObjectKind> = ReadonlyMap<string, StoredObject<K>>;
export type Objects = { readonly [K in ObjectKind]: ObjectsOf<K> };

export const NO_OBJECTS: Objects = {
  server: new Map(),
  namespace: new Map(),
  endpoint: new Map(),
  settings: new Map(),
};

/** The name of the only object of kind `settings`. */
export const SETTINGS_NAME = "settings";

/** Objects that `before` has in the same revision are reused, so that they are not compiled again. */
export function objectsOf(list: Iterable<StoredObject>, before: Objects = NO_OBJECTS): Objects {
  const sorted = [...list].sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
  const known = (object: StoredObject): StoredObject => {
    const old = before[object.kind].get(object.uuid);
    return old?.revision === object.revision ? old : object;
  };
  const of = (wanted: ObjectKind) =>
    new Map(sorted.flatMap((object) => (object.kind === wanted ? [[object.uuid, known(object)]] : [])));
  return Object.fromEntries(KINDS.map((kind) => [kind, of(kind)])) as unknown as Objects;
}

export function allObjects(objects: Objects): readonly StoredObject[] {
  return KINDS.flatMap((kind): readonly StoredObject[] => [...objects[kind].values()]);
}
