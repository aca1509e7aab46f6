/** The rows of the system that is imported, as in its tables. Older versions lack some columns. */

export interface ServerRow {
  readonly uuid: string;
  readonly name: string;
  readonly description?: string | null;
  readonly type: string;
  readonly command?: string | null;
  readonly args?: readonly string[] | null;
  readonly env?: Readonly<Record<string, unknown>> | null;
  readonly url?: string | null;
  readonly bearer_token?: string | null;
  readonly headers?: Readonly<Record<string, unknown>> | null;
  /** Null: public. */
  readonly user_id?: string | null;
}

export interface NamespaceRow {
  readonly uuid: string;
  readonly name: string;
  readonly description?: string | null;
  readonly user_id?: string | null;
}

export interface EndpointRow {
  readonly uuid: string;
  readonly name: string;
  readonly description?: string | null;
  readonly namespace_uuid: string;
  readonly enable_api_key_auth?: boolean | null;
  readonly enable_oauth?: boolean | null;
  readonly use_query_param_auth?: boolean | null;
  readonly enable_max_rate?: boolean | null;
  readonly max_rate?: number | null;
  readonly max_rate_seconds?: number | null;
  readonly enable_client_max_rate?: boolean | null;
  readonly user_id?: string | null;
}

export interface ServerMappingRow {
  readonly namespace_uuid: string;
  readonly mcp_server_uuid: string;
  readonly status: string;
}

export interface ToolMappingRow extends ServerMappingRow {
  readonly tool_uuid: string;
  readonly override_name?: string | null;
  readonly override_title?: string | null;
  readonly override_description?: string | null;
  readonly override_annotations?: unknown;
}

export interface ToolTableRow {
  readonly uuid: string;
  readonly name: string;
  readonly mcp_server_uuid: string;
}

export interface KeyRow {
  readonly uuid: string;
  readonly name: string;
  /** In plain text. */
  readonly key: string;
  /** Null: valid for public endpoints. */
  readonly user_id?: string | null;
  readonly is_active?: boolean | null;
}

export interface ForeignRows {
  readonly mcp_servers: readonly ServerRow[];
  readonly namespaces: readonly NamespaceRow[];
  readonly endpoints: readonly EndpointRow[];
  readonly namespace_server_mappings: readonly ServerMappingRow[];
  readonly namespace_tool_mappings: readonly ToolMappingRow[];
  readonly tools: readonly ToolTableRow[];
  readonly api_keys: readonly KeyRow[];
  readonly oauth_sessions: readonly { readonly mcp_server_uuid: string }[];
  readonly users: readonly { readonly id: string; readonly email?: string | null }[];
}
