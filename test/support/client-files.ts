// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables are part of the form
/**
 * One config file per client in its own format, with comments where allowed and with keys that MetaMCP
 * ignores.
 */

export interface ClientFile {
  readonly id: string;
  /** Path relative to the home folder on Linux. */
  readonly path: string;
  readonly text: string;
  /** The expected entries after the import. */
  readonly servers: Readonly<Record<string, unknown>>;
  /** The file that init changes, relative to the home folder. Default: `path`. */
  readonly edits?: string;
}

/** A secret that must not appear anywhere. */
export const SECRET = "hush-4711";

export const CLIENT_FILES: readonly ClientFile[] = [
  {
    id: "claude-desktop",
    path: ".config/Claude/claude_desktop_config.json",
    text: `{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/notes"],
      "env": { "TOKEN": "${SECRET}" }
    }
  }
}`,
    servers: {
      files: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-filesystem", "/notes"],
        env: { TOKEN: SECRET },
      },
    },
  },
  {
    id: "claude-code",
    path: ".claude.json",
    text: `{
  "numStartups": 42,
  "mcpServers": {
    "tracker": { "type": "http", "url": "https://tracker.example/mcp", "headers": { "Authorization": "Bearer \${TRACKER:-none}" } },
    "old": { "type": "sse", "url": "https://old.example/sse" }
  },
  "projects": {
    "/code/app": { "allowedTools": [], "mcpServers": { "local": { "type": "stdio", "command": "node", "args": ["./server.js"], "env": {} } } },
    "/code/other": { "mcpServers": { "browser": { "command": "npx", "args": ["browser-mcp@1"] } } },
    "/code/third": { "mcpServers": { "browser": { "command": "npx", "args": ["browser-mcp@1"] } } }
  }
}
`,
    servers: {
      tracker: {
        type: "http",
        url: "https://tracker.example/mcp",
        headers: { Authorization: "Bearer ${TRACKER:-none}" },
      },
      old: { type: "sse", url: "https://old.example/sse" },
      local: { command: "node", args: ["./server.js"], cwd: "/code/app" },
      browser: { command: "npx", args: ["browser-mcp@1"] },
    },
  },
  {
    id: "cursor",
    path: ".cursor/mcp.json",
    text: `{
\t"mcpServers": {
\t\t"notion": { "url": "https://notion.example/mcp", "headers": { "X-Key": "\${env:NOTION_KEY}" } },
\t\t"login": { "url": "https://login.example/mcp", "auth": { "CLIENT_ID": "me", "scopes": ["read"] } },
\t}
}
`,
    servers: {
      notion: { url: "https://notion.example/mcp", headers: { "X-Key": "${NOTION_KEY}" } },
      login: { url: "https://login.example/mcp", oauth: { clientId: "me", scopes: ["read"] } },
    },
  },
  {
    id: "vscode",
    path: ".config/Code/User/mcp.json",
    text: `// servers for every workspace
{
    "inputs": [{ "type": "promptString", "id": "perplexity-key", "password": true }],
    "servers": {
        "search": { "type": "stdio", "command": "npx", "args": ["-y", "search"], "env": { "KEY": "\${input:perplexity-key}" } }, // asks
        "off": { "type": "http", "url": "https://off.example/mcp", "disabled": true }
    }
}
`,
    servers: {
      search: { command: "npx", args: ["-y", "search"], env: { KEY: "${PERPLEXITY_KEY}" } },
      off: { type: "http", url: "https://off.example/mcp", disabled: true },
    },
  },
  {
    id: "windsurf",
    path: ".codeium/windsurf/mcp_config.json",
    text: `{ "mcpServers": { "wind": { "serverUrl": "https://wind.example/mcp", "disabledTools": ["burn"] } } }`,
    servers: { wind: { url: "https://wind.example/mcp", tools: { deny: ["burn"] } } },
  },
  {
    id: "zed",
    path: ".config/zed/settings.json",
    text: `// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    "by-extension": { "source": "extension", "settings": { "key": "x" } },
    "older": { "command": { "path": "uvx", "args": ["older"], "env": { "A": "1" } }, "settings": {} },
    "newer": { "source": "custom", "enabled": false, "command": "uvx", "args": ["newer"], "env": {} } // off
  },
  // the end
  "buffer_font_size": 15,
}
`,
    servers: {
      older: { command: "uvx", args: ["older"], env: { A: "1" } },
      newer: { command: "uvx", args: ["newer"], disabled: true },
    },
  },
  {
    id: "codex",
    path: ".codex/config.toml",
    text: `# Codex
model = "o9"

[mcp_servers.docs] # theirs
url = "https://docs.example/mcp"
bearer_token_env_var = "DOCS_TOKEN"
http_headers = { "X-Team" = "a" }
env_http_headers = { "X-User" = "USER_ID" }
tool_timeout_sec = 90

[mcp_servers.db]
command = "uvx"
args = ["db"]
env_vars = ["PGHOST"]
enabled_tools = ["query"]
enabled = false

[mcp_servers.db.env]
PGPASSWORD = "${SECRET}"

[projects."/code/app"]
trust_level = "trusted"
`,
    servers: {
      docs: {
        url: "https://docs.example/mcp",
        headers: { Authorization: "Bearer ${DOCS_TOKEN}", "X-User": "${USER_ID}", "X-Team": "a" },
        timeoutMs: 90_000,
      },
      db: {
        command: "uvx",
        args: ["db"],
        env: { PGPASSWORD: SECRET },
        inheritEnv: ["PGHOST"],
        disabled: true,
        tools: { allow: ["query"] },
      },
    },
  },
  {
    id: "gemini",
    path: ".gemini/settings.json",
    text: `{
  "mcp": { "excluded": ["x"] },
  "mcpServers": {
    "streams": { "httpUrl": "https://g.example/mcp", "headers": { "K": "$G_KEY" }, "timeout": 5000, "trust": true },
    "events": { "url": "https://g.example/sse" },
    "py": { "command": "python", "args": ["-m", "srv"], "env": { "A": "\${A_KEY}" }, "includeTools": ["one"], "excludeTools": ["two"] }
  }
}
`,
    servers: {
      streams: { url: "https://g.example/mcp", headers: { K: "${G_KEY}" }, timeoutMs: 5_000 },
      events: { type: "sse", url: "https://g.example/sse" },
      py: {
        command: "python",
        args: ["-m", "srv"],
        env: { A: "${A_KEY}" },
        tools: { allow: ["one"], deny: ["two"] },
      },
    },
  },
  {
    id: "opencode",
    path: ".config/opencode/opencode.jsonc",
    text: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    // local
    "here": { "type": "local", "command": ["bun", "x", "here"], "environment": { "K": "{env:HERE_KEY}" }, "enabled": true },
    "there": { "type": "remote", "url": "https://there.example/mcp", "enabled": false },
  },
}
`,
    servers: {
      here: { command: "bun", args: ["x", "here"], env: { K: "${HERE_KEY}" } },
      there: { type: "http", url: "https://there.example/mcp", disabled: true },
    },
  },
  {
    id: "continue",
    path: ".continue/config.yaml",
    edits: ".continue/mcpServers/metamcp.json",
    text: `name: mine # and nobody else's
version: 0.0.1
models: []
mcpServers:
  - name: sqlite
    command: npx
    args: ["-y", "sqlite"]
    env:
      KEY: \${{ secrets.SQLITE_KEY }}
  - name: away
    type: streamable-http
    url: https://away.example/mcp
    requestOptions: { headers: { X: y } }
`,
    servers: {
      sqlite: { command: "npx", args: ["-y", "sqlite"], env: { KEY: "${SQLITE_KEY}" } },
      away: { type: "http", url: "https://away.example/mcp", headers: { X: "y" } },
    },
  },
  {
    id: "cline",
    path: ".cline/data/settings/cline_mcp_settings.json",
    text: `{
  "mcpServers": {
    "memo": { "command": "memo", "disabled": false, "autoApprove": ["add"], "timeout": 60 },
    "far": { "type": "streamableHttp", "url": "https://far.example/mcp", "disabled": true }
  }
}
`,
    servers: {
      memo: { command: "memo", timeoutMs: 60_000 },
      far: { type: "http", url: "https://far.example/mcp", disabled: true },
    },
  },
  {
    id: "copilot",
    path: ".copilot/mcp-config.json",
    text: `{
  "mcpServers": {
    "play": { "type": "local", "command": "npx", "args": ["play"], "tools": ["*"] },
    "some": { "type": "http", "url": "https://some.example/mcp", "tools": ["a", "b"] }
  }
}
`,
    servers: {
      play: { command: "npx", args: ["play"] },
      some: { type: "http", url: "https://some.example/mcp", tools: { allow: ["a", "b"] } },
    },
  },
];
