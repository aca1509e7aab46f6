/** The table of all metrics. The counters, /metrics and the docs use it. */

export type InstrumentKind = "counter" | "gauge" | "histogram";

export interface Instrument {
  /** The name for Prometheus. */
  readonly name: string;
  readonly kind: InstrumentKind;
  readonly help: string;
  readonly labels: readonly Label[];
}

/** The meaning of each label. `few`: it has only a few values, which callers cannot choose. */
export const LABELS = {
  endpoint: { help: "name of the endpoint" },
  server: {
    help: "name of the server; `metamcp` for MetaMCP's own tools, `other` for unknown names and tools that do not exist",
  },
  tool: {
    help: "the tool's name at the server, or the method if it is not a tool call; `other` for unknown tools and methods",
  },
  gen_ai_tool_name: { help: "name of the tool, as in the OpenTelemetry conventions" },
  mcp_method_name: {
    help: "`tools/call`, `prompts/get`, `resources/read`, `resources/subscribe`, `completion/complete`, or `other` for methods that MetaMCP does not know",
    few: true,
  },
  error_type: {
    help: "`tool_error`, or an error code; empty on success",
    few: true,
  },
  outcome: { help: "`ok`, `error` or `refused`; for connects `connected` or `failed`", few: true },
  code: { help: "[error code](errors.md)" },
  layer: { help: "the layer that refused, or `limits`" },
  state: { help: "state of a connection or a circuit breaker", few: true },
  by: {
    help: "`password`, `oidc`, `setup`, `invitation`, `oauth`; for refused credentials `key`, `token` or `cookie`",
    few: true,
  },
  kind: { help: "kind of the changed object" },
  percentile: { help: "share of the measurements that are no longer, 0 to 1", few: true },
  version: { help: "of MetaMCP", few: true },
} as const satisfies Readonly<Record<string, { readonly help: string; readonly few?: true }>>;

export type Label = keyof typeof LABELS;

type Define = (name: string, help: string, labels?: readonly Label[]) => Instrument;

const defining =
  (kind: InstrumentKind): Define =>
  (name, help, labels = []) => ({ kind, name, help, labels });

const counter = defining("counter");
const gauge = defining("gauge");
const histogram = defining("histogram");

/** Names with `mcp_` are from the OpenTelemetry conventions for MCP, in the form of Prometheus. */
export const INSTRUMENTS = {
  calls: counter(
    "metamcp_calls_total",
    "Tool calls of clients, code and chains, and prompts and resources that clients requested.",
    ["endpoint", "server", "tool", "outcome"],
  ),
  errors: counter("metamcp_call_errors_total", "Calls that failed or were refused, by code.", [
    "endpoint",
    "code",
  ]),
  refusals: counter("metamcp_refusals_total", "Calls refused by a layer or a limit.", ["layer"]),
  inFlight: gauge("metamcp_calls_in_flight", "Calls in flight."),
  serverDuration: histogram(
    "mcp_server_operation_duration_seconds",
    "Duration of calls, prompts and resources for clients, including all layers.",
    ["endpoint", "server", "gen_ai_tool_name", "mcp_method_name", "error_type"],
  ),
  clientDuration: histogram(
    "mcp_client_operation_duration_seconds",
    "Duration at servers, including connects and retries.",
    ["server", "gen_ai_tool_name", "mcp_method_name", "error_type"],
  ),
  sessionDuration: histogram("mcp_server_session_duration_seconds", "Duration of client sessions.", [
    "endpoint",
  ]),
  connectionDuration: histogram(
    "mcp_client_session_duration_seconds",
    "Duration of connections to servers.",
    ["server"],
  ),
  resultBytes: counter("metamcp_result_bytes_total", "Bytes of results, before shortening.", [
    "endpoint",
    "server",
  ]),
  attempts: counter("metamcp_retries_total", "Retries of calls.", ["server"]),
  cached: counter("metamcp_cache_hits_total", "Calls answered from the cache.", ["server"]),
  sessions: gauge("metamcp_sessions", "Open client sessions.", ["endpoint"]),
  connections: gauge("metamcp_connections", "Connections to servers.", ["state"]),
  waiting: gauge("metamcp_pool_waiting", "Connects waiting for a place in the pool."),
  breakers: gauge("metamcp_breakers", "Servers blocked after repeated failures.", ["state"]),
  connects: counter("metamcp_connects_total", "Attempts to connect to a server.", ["server", "outcome"]),
  restarts: counter("metamcp_restarts_total", "Connections restarted after a loss.", ["server"]),
  tokensSaved: gauge(
    "metamcp_tokens_saved",
    "Cost of the full tool lists, minus what was shown and searched, since the start.",
    ["endpoint"],
  ),
  logins: counter("metamcp_logins_total", "Logins of people, and of OAuth clients they allowed.", [
    "by",
    "outcome",
  ]),
  refusedCredentials: counter(
    "metamcp_refused_credentials_total",
    "Requests with an unknown or expired key, token or cookie; up to a minute late.",
    ["by", "endpoint"],
  ),
  adminChanges: counter("metamcp_admin_changes_total", "Changes through the admin API.", ["kind", "outcome"]),
  revision: gauge("metamcp_config_revision", "Current revision of the config."),
  auditQueued: gauge("metamcp_audit_queued", "Audit records waiting to be written."),
  auditLost: counter("metamcp_audit_lost_total", "Lost audit records."),
  storeUp: gauge("metamcp_store_up", "1 if the store can be written."),
  limitsDivided: gauge(
    "metamcp_limits_divided",
    "1 while each replica has only its share of the limits, because the store is away.",
  ),
  spansLost: counter("metamcp_spans_lost_total", "Spans that the collector did not accept in time."),
  loopLag: gauge("metamcp_event_loop_lag_seconds", "Delay of timers since the last scrape.", ["percentile"]),
  memory: gauge("process_resident_memory_bytes", "Memory of the gateway itself, without children."),
  cpu: counter("process_cpu_seconds_total", "CPU time of the gateway itself, without children."),
  started: gauge("process_start_time_seconds", "Start time in seconds since 1970."),
  build: gauge("metamcp_build_info", "Always 1.", ["version"]),
} as const satisfies Readonly<Record<string, Instrument>>;

export type InstrumentName = keyof typeof INSTRUMENTS;

/** Bucket limits in seconds, from the conventions. */
export const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const;
