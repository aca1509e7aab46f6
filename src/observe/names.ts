/** The current names of the ids in events. */
export interface Names {
  endpoint(uuid: string): { readonly name: string; readonly surface: string } | undefined;
  server(uuid: string): string | undefined;
  /** Its transport, in the words of OpenTelemetry. */
  transport(uuid: string): "pipe" | "tcp" | undefined;
  /** Whether the catalog has this tool. Names that callers invent must not become names of counters. */
  hasTool(server: string, tool: string): boolean;
}
