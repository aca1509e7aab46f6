/** Names for bodies and answers of the admin API. */

import type { ItemOf, Reads, Writes } from "../../src/admin/route-types.ts";
import type { TRY_EVENT } from "../../src/admin/try-schemas.ts";
import type { Static } from "../../src/kernel/json-schema.ts";

export type { Role } from "../../src/access/account.ts";
export type { Action } from "../../src/access/may.ts";
export type { Change, Changes } from "../../src/admin/schemas.ts";

export type Me = Reads["/me"];

export type Server = Reads["/mcp-servers/:uuid"];
export type ConnectionStatus = Server["status"];
export type StatusEntry = ItemOf<"/mcp-servers/:uuid/history">;
export type ServerPatch = Writes["PATCH /mcp-servers/:uuid"]["body"];
export type ServerUpdated = Writes["PATCH /mcp-servers/:uuid"]["answer"];
export type Namespace = Reads["/namespaces/:uuid"];
export type Endpoint = Reads["/endpoints/:uuid"];
export type Settings = Reads["/settings"];

export type ToolRow = ItemOf<"/mcp-servers/:uuid/tools">;
export type ToolTable = Reads["/tools"];
export type ItemChange = ItemOf<"/mcp-servers/:uuid/changes">;
export type Sign = ItemChange["signs"][number];
export type ItemSigns = Reads["/mcp-servers/:uuid/changes"]["signs"][number];
export type ChangeApproval = Writes["POST /mcp-servers/:uuid/changes/approve"]["body"];
export type TableTool = ToolTable["items"][number];
export type SelfTest = Writes["POST /endpoints/:uuid/self-test"]["answer"];
export type Preview = Reads["/endpoints/:uuid/preview"];
export type Explanation = Writes["POST /endpoints/:uuid/explain"]["answer"];
export type TryEvent = Static<typeof TRY_EVENT>;
export type MyEndpoint = ItemOf<"/me/endpoints">;

export type Offer = ItemOf<"/registry">;
export type ProvisionRequest = ItemOf<"/provision-requests">;
export type Approval = ItemOf<"/approvals">;

export type Revision = ItemOf<"/revisions">;

export type ApiKey = ItemOf<"/api-keys">;
export type ApiKeyMade = Writes["POST /api-keys"]["answer"];
export type NewApiKey = Writes["POST /api-keys"]["body"];
export type User = ItemOf<"/users">;
export type UserInvited = Writes["POST /users"]["answer"];
export type Invitation = UserInvited["invitation"];
export type UserPatch = Writes["PATCH /users/:uuid"]["body"];
export type Grant = ItemOf<"/me/grants">;
export type Secret = ItemOf<"/me/secrets">;
export type OwnServer = ItemOf<"/me/logins">;
export type LoginState = Reads["/mcp-servers/:uuid/login"];

export type Attention = Reads["/attention"];
export type AttentionItem = Attention["items"][number];
export type Usage = Reads["/usage"];
export type RecentCall = Reads["/calls/:id"];
export type Replica = ItemOf<"/replicas">;
export type ClientSession = ItemOf<"/sessions">;
export type AuditPage = Reads["/audit"];
export type AuditRecord = AuditPage["items"][number];

export type Layers = Reads["/layers"];
/** A kind of layer, as the pipeline editor offers it. */
export type LayerKind = Layers["items"][number];

export type PolicyMatches = Writes["POST /policies/matches"]["answer"];
export type PolicyResult = Writes["POST /policy-tests/try"]["answer"];
export type PolicyMatrix = Reads["/endpoints/:uuid/matrix"];
