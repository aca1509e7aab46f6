/** Knows which keys of a client's entry `translate` reads, and which mean nothing outside that client. Any other key may restrict or complete the server, so an entry that has one stays in the client. */
import { isKeys, type Keys } from "../config/field.ts";

const READ =
  "type transport transportType command args env environment env_vars cwd url httpUrl serverUrl headers http_headers env_http_headers " +
  "bearer_token_env_var requestOptions auth oauth disabled enabled timeout tool_timeout_sec startup_timeout_sec startup_timeout_ms " +
  "includeTools enabled_tools enabledTools excludeTools disabled_tools disabledTools tools";

/** Names and pictures, what the client may run without asking, and how it shows or starts the server. */
const HARMLESS =
  "name title description icon icons source settings gallery version dev trust alwaysAllow autoApprove required remoteConfigured " +
  "supports_parallel_tool_calls initTimeout connectionTimeout faviconUrl $schema _comment comment note";

const KNOWN = new Set(`${READ} ${HARMLESS}`.split(" "));

/** One sentence for each key that is not read. */
export function unreadKeys(entry: Keys): readonly string[] {
  return Object.keys(entry).flatMap((key) => {
    if (key === "envFile") return ["envFile is not read; write its variables in env"];
    if (key === "headersHelper") return ["headersHelper is not supported; write the headers themselves"];
    if (key === "tools" && isKeys(entry[key])) return ["its settings of single tools are not read"];
    return KNOWN.has(key) ? [] : [`its setting "${key}" is not read`];
  });
}
