/** Reads the OpenTelemetry variables for the export of spans. */

export interface OtelEnvironment {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Resource attributes. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Sampled share of the traces that begin here. */
  readonly ratio: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Returns undefined if no collector is configured. Throws for an invalid address or an unsupported protocol.
 */
export function otelEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): OtelEnvironment | undefined {
  if (env["OTEL_SDK_DISABLED"] === "true" || env["OTEL_TRACES_EXPORTER"] === "none") return undefined;
  const url = addressIn(env);
  if (url === undefined) return undefined;
  const protocol = env["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] ?? env["OTEL_EXPORTER_OTLP_PROTOCOL"];
  if (protocol === "grpc")
    throw new Error(
      "OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but traces are sent as http/json: use the HTTP port of the collector, usually 4318.",
    );
  const timeout = Number(env["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"] ?? env["OTEL_EXPORTER_OTLP_TIMEOUT"]);
  const ratio = Number(env["OTEL_TRACES_SAMPLER_ARG"] ?? "1");
  const sampled = env["OTEL_TRACES_SAMPLER"]?.endsWith("traceidratio") && !Number.isNaN(ratio);
  return {
    url,
    headers: pairsIn(env["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] ?? env["OTEL_EXPORTER_OTLP_HEADERS"]),
    timeoutMs: timeout > 0 ? timeout : DEFAULT_TIMEOUT_MS,
    attributes: {
      "service.name": "metamcp",
      ...pairsIn(env["OTEL_RESOURCE_ATTRIBUTES"]),
      ...(env["OTEL_SERVICE_NAME"] && { "service.name": env["OTEL_SERVICE_NAME"] }),
    },
    ratio: sampled ? ratio : env["OTEL_TRACES_SAMPLER"] === "always_off" ? 0 : 1,
  };
}

function addressIn(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const own = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
  const base = env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const url = own || (base && `${base.replace(/\/+$/, "")}/v1/traces`);
  if (!url) return undefined;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  const name = own ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" : "OTEL_EXPORTER_OTLP_ENDPOINT";
  throw new Error(`${name} is "${own || base}", but must be an http or https URL.`);
}

/** `key=value,key=value`, values percent-encoded. */
function pairsIn(text = ""): Readonly<Record<string, string>> {
  const pairs = text.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    if (at <= 0) return [];
    const value = pair.slice(at + 1).trim();
    return [[pair.slice(0, at).trim(), decoded(value)] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
