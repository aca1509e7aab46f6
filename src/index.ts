/** What `import … from "metamcp"` gives. Nothing else is public. */

export type { ErrorCode, ErrorContext } from "./kernel/errors.ts";
export { MetaMcpError } from "./kernel/errors.ts";
export type { Log, LogFields, LogLevel } from "./kernel/log.ts";
export type {
  ConfigFile,
  DiscoverOptions,
  Discovery,
  FoundServer,
  FoundTool,
  MetaMcp,
  MetaMcpOptions,
  ToolResult,
} from "./library.ts";
export { createMetaMcp } from "./library.ts";
