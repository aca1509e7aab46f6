/** Types of the admin API, derived from the schemas that validate its input and describe it as OpenAPI. */
import type { Action } from "../../src/access/may.ts";
import type { COMPONENTS } from "../../src/admin/schemas.ts";
import type { ConnectionStatus } from "../../src/gateway/control.ts";
import type { Static } from "../../src/gateway/json-schema.ts";
import type { StoredObject } from "../../src/gateway/objects.ts";
import type {
  EndpointFields,
  NamespaceFields,
  ServerFields,
  SettingsFields,
} from "../../src/gateway/schemas.ts";
import type { ToolSetting } from "../../src/gateway/set-tools.ts";
import type { ToolRow } from "../../src/gateway/view/tool-row.ts";
import type { CallActor, CallRow, ClientName } from "../../src/observe/call-row.ts";
import type { ClientSession } from "../../src/observe/live/client-session.ts";
import type { Named } from "../../src/observe/names.ts";

export type { Role } from "../../src/access/account.ts";
export type {
  Approval,
  ClientSnippet,
  ProvisionRequest,
  SelfTest,
  StatusEntry,
} from "../../src/gateway/control.ts";
export type {
  Action,
  CallActor,
  CallRow,
  ClientName,
  ClientSession,
  ConnectionStatus,
  Named,
  ToolRow,
  ToolSetting,
};

type Component<N extends keyof typeof COMPONENTS> = Static<(typeof COMPONENTS)[N]>;

/** Fields that the gateway sets itself. */
type GatewayFields = Pick<StoredObject, "uuid" | "managedBy" | "revision" | "createdAt" | "updatedAt">;

/** The body that creates an object: only the name is required. */
type NewObject<F extends { readonly name: string }> = Partial<F> & Pick<F, "name">;

/** JSON Merge Patch: null removes a field. */
export type Patch<F> = { readonly [K in keyof F]?: F[K] | null };

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

export type Server = ServerFields & GatewayFields & { readonly status: ConnectionStatus };
export type Namespace = NamespaceFields & GatewayFields;
export type Endpoint = EndpointFields & GatewayFields;
export type Settings = SettingsFields & Pick<GatewayFields, "revision" | "managedBy">;

export type NewServer = NewObject<ServerFields>;
export type NewNamespace = NewObject<NamespaceFields>;
export type NewEndpoint = NewObject<EndpointFields>;

export type ServerPatch = Patch<ServerFields>;
export type NamespacePatch = Patch<NamespaceFields>;
export type EndpointPatch = Patch<EndpointFields>;
export type SettingsPatch = Patch<SettingsFields>;

export interface ServerUpdated {
  readonly message: string;
  readonly server: Server;
  readonly connection: ConnectionStatus;
  readonly namespaces: readonly string[];
}

export type Offer = Component<"Offer">;

export type Change = Component<"Change">;
export interface Changes {
  readonly changes: readonly Change[];
}
export type Applied = Changes & { readonly revision: number };
export type Revision = Component<"Revision">;
export type RevisionWithDiff = Revision & { readonly diff: readonly Change[] };

export type ApiKey = Component<"ApiKey">;
export type ApiKeyMade = Component<"ApiKeyMade">;
export type NewApiKey = Component<"NewApiKey">;
export type User = Component<"User">;
export type UserInvited = Component<"UserInvited">;
export type Invitation = Component<"Invitation">;
export type NewUser = Omit<Component<"NewUser">, "groups"> & { readonly groups?: readonly string[] };
export type UserPatch = Component<"UserPatch">;
export type Grant = Component<"Grant">;
export type LoginState = Component<"LoginState">;
export type OwnServer = Component<"OwnServer">;
export type LoginAddress = Component<"LoginAddress">;
export type ToolDetail = Component<"ToolDetail">;
export type ToolChanges = Component<"ToolChanges">;
export type ToolTable = Component<"ToolTable">;
export type TableTool = ToolTable["items"][number];
export type TryEvent = Component<"TryEvent">;
export type TryAnswer = Component<"TryAnswer">;
export type Explanation = Component<"Explanation">;
export type Preview = Component<"Preview">;
export type MyEndpoint = Component<"MyEndpoint">;
export type Secret = Component<"Secret">;
export type Me = Omit<Component<"Me">, "actions"> & { readonly actions: readonly Action[] };

export type Attention = Component<"Attention">;
export type AttentionItem = Attention["items"][number];
export type Stats = Component<"Stats">;
export type RecentCall = Component<"RecentCall">;
export type AuditRecord = Component<"AuditRecord">;
export type AuditVerdict = Component<"AuditVerdict">;
export type AuditPage = Page<AuditRecord> & Pick<Static<(typeof COMPONENTS)["AuditPage"]>, "state">;

export type Layers = Component<"Layers">;
/** A kind of layer, as the pipeline editor offers it. */
export type LayerKind = Layers["items"][number];
