/** What the ids in events are called at the moment. */
export interface Names {
  endpoint(uuid: string): { readonly name: string; readonly surface: string } | undefined;
  server(uuid: string): string | undefined;
  /** How it is reached, as OpenTelemetry has it. */
  transport(uuid: string): "pipe" | "tcp" | undefined;
  /** Whether the catalog has such a tool. What callers make up must not become names of counters. */
  hasTool(server: string, tool: string): boolean;
}

/** An object as records name it: what it is called may change, and it may go. */
export interface Named {
  readonly uuid?: string;
  readonly name: string;
}
