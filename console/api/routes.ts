/** The routes of the admin API that the console uses, with the types of bodies and answers. A test compares them with the gateway's table. */
import type * as Api from "./types.ts";

export interface LoginOptions {
  readonly oidc: boolean;
  readonly passwords: boolean;
  /** True if no administrator exists yet. */
  readonly setup: boolean;
  /** Absent if nobody is logged in. */
  readonly me?: Api.Me;
}

/** GET routes. Parameters with a colon go into the path, all others into the query. */
export interface Reads {
  "/login": LoginOptions;
  "/invitations/:code": { readonly email: string; readonly expiresAt: string };
  "/me": Api.Me;
  "/mcp-servers": Api.Page<Api.Server>;
  "/mcp-servers/:uuid": Api.Server;
  "/mcp-servers/:uuid/tools": Api.Page<Api.ToolRow>;
  "/mcp-servers/:uuid/history": { readonly items: readonly Api.StatusEntry[] };
  "/mcp-servers/:uuid/tools/:tool": Api.ToolDetail;
  "/mcp-servers/:uuid/changes": Api.ToolChanges;
  "/tools": Api.ToolTable;
  "/mcp-servers/:uuid/login": Api.LoginState;
  "/mcp-servers/:uuid/logs": { readonly items: readonly string[] };
  "/namespaces": Api.Page<Api.Namespace>;
  "/namespaces/:uuid": Api.Namespace;
  "/namespaces/:uuid/tools": Api.Page<Api.ToolRow>;
  "/endpoints": Api.Page<Api.Endpoint>;
  "/endpoints/:uuid": Api.Endpoint;
  "/endpoints/:uuid/tools": Api.Page<Api.ToolRow>;
  "/endpoints/:uuid/clients": Api.Page<Api.ClientSnippet> & { readonly url: string };
  "/endpoints/:uuid/tools/:server/:tool": Api.ToolDetail;
  "/endpoints/:uuid/preview": Api.Preview;
  "/registry": Api.Page<Api.Offer> & { readonly notice?: string };
  "/provision-requests": Api.Page<Api.ProvisionRequest>;
  "/approvals": Api.Page<Api.Approval>;
  "/attention": Api.Attention;
  "/stats": Api.Stats;
  "/calls": Api.Page<Api.RecentCall>;
  "/calls/:id": Api.RecentCall;
  "/sessions": Api.Page<Api.ClientSession>;
  "/audit": Api.AuditPage;
  "/audit/verify": Api.AuditVerdict;
  "/api-keys": Api.Page<Api.ApiKey>;
  "/users": Api.Page<Api.User>;
  "/users/:uuid/grants": Api.Page<Api.Grant>;
  "/me/endpoints": Api.Page<Api.MyEndpoint>;
  "/me/logins": Api.Page<Api.OwnServer>;
  "/me/secrets": Api.Page<Api.Secret>;
  "/me/grants": Api.Page<Api.Grant>;
  "/revisions": Api.Page<Api.Revision>;
  "/revisions/:n": Api.RevisionWithDiff;
  "/layers": Api.Layers;
  "/settings": Api.Settings;
  "/config": Readonly<Record<string, unknown>>;
}

interface Write<Body, Answer> {
  readonly body: Body;
  readonly answer: Answer;
}

type Credentials = { readonly email: string; readonly password: string };

export interface Writes {
  "POST /login": Write<Credentials, Api.Me>;
  "POST /setup": Write<Credentials & { readonly code: string }, Api.Me>;
  "POST /invitations/:code": Write<{ readonly password: string }, Api.Me>;
  "POST /logout": Write<undefined, { readonly url?: string } | undefined>;
  "POST /mcp-servers": Write<Api.NewServer, Api.Server>;
  "PATCH /mcp-servers/:uuid": Write<Api.ServerPatch, Api.ServerUpdated>;
  "DELETE /mcp-servers/:uuid": Write<undefined, undefined>;
  "POST /mcp-servers/import": Write<
    { readonly mcpServers: Readonly<Record<string, unknown>> },
    {
      readonly created: readonly string[];
      readonly updated: readonly string[];
      readonly warnings?: readonly string[];
    }
  >;
  "POST /mcp-servers/:uuid/tools/:tool/call": Write<
    { readonly args: Readonly<Record<string, unknown>> },
    Readonly<Record<string, unknown>>
  >;
  "POST /mcp-servers/:uuid/login": Write<{ readonly returnTo?: string }, Api.LoginAddress>;
  "DELETE /mcp-servers/:uuid/login": Write<undefined, undefined>;
  "POST /mcp-servers/:uuid/connect": Write<undefined, { readonly connection: Api.ConnectionStatus }>;
  "POST /mcp-servers/:uuid/changes/approve": Write<
    { readonly version: string; readonly tools?: readonly string[] },
    Api.ToolChanges
  >;
  "POST /namespaces/:uuid/tools": Write<{ readonly set: readonly Api.ToolSetting[] }, Api.Namespace>;
  "POST /namespaces": Write<Api.NewNamespace, Api.Namespace>;
  "PATCH /namespaces/:uuid": Write<Api.NamespacePatch, Api.Namespace>;
  "DELETE /namespaces/:uuid": Write<undefined, undefined>;
  "POST /endpoints": Write<Api.NewEndpoint, Api.Endpoint>;
  "PATCH /endpoints/:uuid": Write<Api.EndpointPatch, Api.Endpoint>;
  "DELETE /endpoints/:uuid": Write<undefined, undefined>;
  "POST /endpoints/:uuid/explain": Write<
    { readonly tool: string; readonly args: Readonly<Record<string, unknown>>; readonly as?: string },
    Api.Explanation
  >;
  "POST /endpoints/:uuid/try/:id/answers": Write<Api.TryAnswer, undefined>;
  "POST /endpoints/:uuid/self-test": Write<undefined, Api.SelfTest>;
  "POST /provision-requests/:uuid/approve": Write<
    { readonly namespace?: string; readonly values?: Readonly<Record<string, string>> },
    Api.ProvisionRequest
  >;
  "POST /provision-requests/:uuid/refuse": Write<{ readonly reason?: string }, Api.ProvisionRequest>;
  "POST /approvals/:uuid/approve": Write<{ readonly comment?: string }, Api.Approval>;
  "POST /approvals/:uuid/refuse": Write<{ readonly comment?: string }, Api.Approval>;
  "DELETE /sessions/:id": Write<undefined, undefined>;
  "POST /api-keys": Write<Api.NewApiKey, Api.ApiKeyMade>;
  "PATCH /api-keys/:uuid": Write<Pick<Partial<Api.NewApiKey>, "name" | "description">, Api.ApiKey>;
  "DELETE /api-keys/:uuid": Write<undefined, undefined>;
  "POST /users": Write<Api.NewUser, Api.UserInvited>;
  "PATCH /users/:uuid": Write<Api.UserPatch, Api.User>;
  "DELETE /users/:uuid": Write<undefined, undefined>;
  "POST /users/:uuid/invitation": Write<undefined, Api.Invitation>;
  "DELETE /users/:uuid/grants/:grant": Write<undefined, undefined>;
  "PUT /me/password": Write<{ readonly current: string; readonly password: string }, Api.Me>;
  "POST /me/logins/:server": Write<{ readonly returnTo?: string }, Api.LoginAddress>;
  "DELETE /me/logins/:server": Write<undefined, undefined>;
  "PUT /me/secrets/:name": Write<{ readonly value: string }, undefined>;
  "DELETE /me/secrets/:name": Write<undefined, undefined>;
  "DELETE /me/grants/:grant": Write<undefined, undefined>;
  "PATCH /settings": Write<Api.SettingsPatch, Api.Settings>;
  "POST /revisions/:n/rollback": Write<undefined, Api.Applied>;
  "POST /config/apply": Write<
    { readonly document: unknown; readonly prune?: boolean; readonly source?: string },
    Api.Applied
  >;
}

export type ReadPath = keyof Reads;
/** Routes that answer with pages. */
export type ListPath = { [P in ReadPath]: Reads[P] extends Api.Page<unknown> ? P : never }[ReadPath];
export type ItemOf<P extends ListPath> = Reads[P] extends Api.Page<infer T> ? T : never;
export type WriteRoute = keyof Writes;
