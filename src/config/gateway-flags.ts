/** Flags and variables that only the gateway has. */
import type { Table } from "./command-line.ts";

/** Used by the gateway and by commands that call its admin API. */
const ADMIN_TOKEN = {
  kind: "text",
  flag: false,
  secret: true,
  help: "Bearer token for the admin API, at least 32 characters.",
} as const;

/** Flags of `metamcp serve`. */
export const SERVE_FLAGS = {
  port: {
    kind: "whole",
    least: 0,
    most: 65_535,
    default: 12_008,
    help: "Port to listen on; 0 picks a free one.",
  },
  store: {
    kind: "text",
    value: "url",
    secret: true,
    help: "Database: file:PATH or postgres://… Default: file:~/.metamcp/gateway/gateway.db.",
  },
  publicUrl: {
    kind: "text",
    value: "url",
    help: "URL at which clients reach this gateway, if it is behind a proxy; without a path.",
  },
  replicaAddress: {
    kind: "text",
    value: "host:port",
    help: "Address at which other gateways on the same Postgres reach this one, to share sessions; port 0 picks a free one.",
  },
  skillsDir: {
    kind: "list",
    value: "folder",
    help: "Serve the skills in this folder, as the server skills, which namespaces switch on and off; can be repeated.",
  },
  apply: { kind: "text", value: "file", help: "Apply this config document at every start." },
  import: {
    kind: "text",
    value: "file",
    help: "Import the servers of this config file into the endpoint default; existing ones stay.",
  },
  auditFile: {
    kind: "text",
    value: "file",
    help: "Also append every audit record to this file, as JSON lines.",
  },
  auditDays: {
    kind: "whole",
    least: 1,
    most: 36_500,
    default: 30,
    help: "Number of days to keep audit records in the store.",
  },
  metricsPort: {
    kind: "whole",
    least: 1,
    most: 65_535,
    help: "Also serve /metrics on this port, without login.",
  },
  noConsole: { kind: "switch", help: "Do not serve the web console, only the API and the endpoints." },
  open: { kind: "switch", env: false, help: "Open the console in your browser once it is ready." },
  insecure: { kind: "switch", help: "Allow connections from other machines without TLS." },
  oidcIssuer: {
    kind: "text",
    value: "url",
    help: "Identity provider (OpenID Connect) where people log in to the console.",
  },
  oidcClientId: { kind: "text", value: "id", help: "Client id of this gateway at the identity provider." },
  oidcClientSecret: {
    kind: "text",
    flag: false,
    secret: true,
    help: "Client secret of this gateway at the identity provider.",
  },
  oidcScope: {
    kind: "list",
    value: "scope",
    help: "Scope to request beside openid, email and profile, e.g. groups or offline_access; can be repeated.",
  },
  oidcGroupsClaim: {
    kind: "text",
    value: "claim",
    default: "groups",
    help: "Claim with the groups of a person; use a.b for b inside a.",
  },
  oidcAdminGroup: {
    kind: "text",
    value: "group",
    help: "Group whose members are administrators; checked at each login.",
  },
  oidcAllowGroup: {
    kind: "list",
    value: "group",
    help: "Only members of this group may log in; can be repeated.",
  },
  oidcCallback: {
    kind: "choice",
    choices: ["/api/v1/login/oidc/callback", "/api/auth/oauth2/callback/oidc"],
    default: "/api/v1/login/oidc/callback",
    help: "Redirect path registered at the identity provider.",
  },
  trustProxy: {
    kind: "list",
    value: "address",
    help: "Proxy whose X-Forwarded-For header is trusted: an address or a network; can be repeated.",
  },
  childUser: {
    kind: "text",
    value: "user",
    help: "Run local servers and code as this user: a name, UID or UID:GID. Needs root.",
  },
  drain: {
    kind: "time",
    least: 0,
    help: "After SIGTERM, keep serving for this time while /readyz answers 503 (ms). Default: 0; 5000 with --replica-address.",
  },
  drainCalls: {
    kind: "time",
    least: 0,
    help: "Then give running calls this time to finish (ms). Default: 5000; 30000 with --replica-address.",
  },
  adminToken: ADMIN_TOKEN,
  secretKey: {
    kind: "text",
    flag: false,
    secret: true,
    help: "Encrypts the secrets in the store; required with Postgres.",
  },
  secretKeyOld: {
    kind: "text",
    flag: false,
    secret: true,
    help: "The previous key; the gateway encrypts everything again with the new one.",
  },
} as const satisfies Table;

/** Additional flags of every `metamcp gateway` command. */
export const GATEWAY_FLAGS = {
  gateway: {
    kind: "text",
    value: "url",
    default: "http://127.0.0.1:12008",
    help: "Address of the gateway.",
  },
  adminToken: ADMIN_TOKEN,
} as const satisfies Table;
