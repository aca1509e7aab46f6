/** The names that rules and tests can refer to, for completion. */
import { CONFIG, useList, useResource } from "../../live/resource.ts";
import { may } from "../../session.ts";

const ROLES = ["admin", "editor", "viewer", "member"];

export interface Names {
  readonly tools: readonly string[];
  readonly users: readonly string[];
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  readonly keys: readonly string[];
  readonly labels: readonly string[];
}

export function useNames(): Names {
  const all = may("people");
  const tools = useResource("/tools", {}, CONFIG).value.value?.items ?? [];
  const servers = useList("/mcp-servers", {}, CONFIG).value.value ?? [];
  const users = useList("/users", all ? {} : undefined, {}).value.value ?? [];
  const keys = useList("/api-keys", all ? {} : undefined, {}).value.value ?? [];
  const nameOf = new Map(servers.map(({ uuid, name }) => [uuid, name]));
  return {
    tools: [
      ...servers.map(({ name }) => `${name}:*`),
      ...tools.map(({ server, tool }) => `${nameOf.get(server) ?? server}:${tool}`),
    ],
    users: users.map(({ email }) => email),
    groups: [...new Set(users.flatMap(({ groups }) => groups))],
    roles: ROLES,
    keys: keys.map(({ name }) => name),
    labels: [...new Set(servers.flatMap(({ labels }) => labels))],
  };
}
