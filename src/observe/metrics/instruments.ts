/** Every metric there is. What is counted, what is shown at /metrics, what the docs list: all come from this table. */

export type InstrumentKind = "counter" | "gauge" | "histogram";

export interface Instrument {
  /** As Prometheus knows it. */
  readonly name: string;
  readonly kind: InstrumentKind;
  readonly help: string;
  readonly labels: readonly Label[];
}

/** What each label means, and whether its values are a few that we gave ourselves. */
export const LABELS = {
  endpoint: { help: "name of the endpoint" },
  server: { help: "name of the server; `metamcp` for our own tools, `other` for names nobody has" },
  tool: {
    help: "the server's own name of the tool, `prompts/get` or `resources/read`; `other` for what the catalog does not have",
  },
  gen_ai_tool_name: { help: "the same of tools, by the name of the conventions" },
  mcp_method_name: { help: "`tools/call`, `prompts/get` or `resources/read`", few: true },
  error_type: {
    help: "`tool_error`, or a code of the table of errors; empty where all went well",
    few: true,
  },
  outcome: { help: "`ok`, `error` or `refused`; of connects `connected` or `failed`", few: true },
  code: { help: "of the [table of errors](errors.md)" },
  layer: { help: "the layer that refused, or `limits`" },
  state: { help: "of a connection or a breaker", few: true },
  by: { help: "`password`, `oidc`, `setup`, `invitation`, `oauth`", few: true },
  kind: { help: "kind of object that was changed" },
  quantile: { help: "share of the measurements that are at most this", few: true },
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

/** `mcp_…` are those of the OpenTelemetry conventions for MCP, as Prometheus writes them. */
export const INSTRUMENTS = {
  calls: counter(
    "metamcp_calls_total",
    "Calls of tools by clients, code and chains; prompts and resources that clients asked for.",
    ["endpoint", "server", "tool", "outcome"],
  ),
  errors: counter("metamcp_call_errors_total", "Calls that failed or were refused, by code.", [
    "endpoint",
    "code",
  ]),
  refusals: counter("metamcp_refusals_total", "Calls that a layer of the pipeline or a limit refused.", [
    "layer",
  ]),
  inFlight: gauge("metamcp_calls_in_flight", "Calls that are not answered yet."),
  serverDuration: histogram(
    "mcp_server_operation_duration_seconds",
    "How long calls, prompts and resources took for clients, all layers included.",
    ["endpoint", "server", "gen_ai_tool_name", "mcp_method_name", "error_type"],
  ),
  clientDuration: histogram(
    "mcp_client_operation_duration_seconds",
    "How long servers took, connecting and second attempts included.",
    ["server", "gen_ai_tool_name", "mcp_method_name", "error_type"],
  ),
  sessionDuration: histogram("mcp_server_session_duration_seconds", "How long sessions of clients lasted.", [
    "endpoint",
  ]),
  connectionDuration: histogram(
    "mcp_client_session_duration_seconds",
    "How long connections to servers lasted.",
    ["server"],
  ),
  resultBytes: counter("metamcp_result_bytes_total", "Bytes of results, before they are shortened.", [
    "endpoint",
    "server",
  ]),
  attempts: counter("metamcp_retries_total", "Second and third attempts at a server.", ["server"]),
  cached: counter("metamcp_cache_hits_total", "Calls that were answered from a cache.", ["server"]),
  sessions: gauge("metamcp_sessions", "Clients with a session.", ["endpoint"]),
  connections: gauge("metamcp_connections", "Connections to servers.", ["state"]),
  waiting: gauge("metamcp_pool_waiting", "Connects that wait for a place in the pool."),
  breakers: gauge("metamcp_breakers", "Servers that are blocked after repeated failures.", ["state"]),
  connects: counter("metamcp_connects_total", "Connections that were made or could not be made.", [
    "server",
    "outcome",
  ]),
  restarts: counter("metamcp_restarts_total", "Connections that were replaced after one was lost.", [
    "server",
  ]),
  tokensSaved: gauge(
    "metamcp_tokens_saved",
    "What the full lists of tools would have cost, less what was shown and searched, since the start.",
    ["endpoint"],
  ),
  logins: counter("metamcp_logins_total", "Logins of people, and clients that they let in.", [
    "by",
    "outcome",
  ]),
  adminChanges: counter("metamcp_admin_changes_total", "Changes by the admin API.", ["kind", "outcome"]),
  revision: gauge("metamcp_config_revision", "The revision of the config that is served."),
  auditQueued: gauge("metamcp_audit_queued", "Audit records that are not written yet."),
  auditLost: counter("metamcp_audit_lost_total", "Audit records that could not be kept."),
  storeUp: gauge("metamcp_store_up", "1 where the store can be written."),
  spansLost: counter("metamcp_spans_lost_total", "Spans that the collector did not take in time."),
  loopLag: gauge("metamcp_event_loop_lag_seconds", "How late timers run: since the last scrape.", [
    "quantile",
  ]),
  memory: gauge("process_resident_memory_bytes", "Memory of the gateway itself, without children."),
  cpu: counter("process_cpu_seconds_total", "CPU time of the gateway itself, without children."),
  started: gauge("process_start_time_seconds", "When it was started, in seconds since 1970."),
  build: gauge("metamcp_build_info", "Always 1.", ["version"]),
} as const satisfies Readonly<Record<string, Instrument>>;

export type InstrumentName = keyof typeof INSTRUMENTS;

/** Seconds; those of the conventions. */
export const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const;
