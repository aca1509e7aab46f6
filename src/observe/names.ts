import type { Named } from "./call-schema.ts";

/** The current names of the ids in events. */
export interface Names {
  endpoint(uuid: string): { readonly name: string; readonly surface: string } | undefined;
  /**
   * The namespace through which an endpoint has a server. What is at no server belongs to the only namespace
   * of the endpoint, if there is one.
   */
  namespace(endpoint: string | undefined, server: string | undefined): Named | undefined;
  server(uuid: string): string | undefined;
  /** Its transport, in the words of OpenTelemetry. */
  transport(uuid: string): "pipe" | "tcp" | undefined;
  /** Whether the catalog has this tool. Names that callers invent must not become names of counters. */
  hasTool(server: string, tool: string): boolean;
}
