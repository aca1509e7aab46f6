// Writes the documentation pages that come from tables in the code: docs/errors.md, docs/settings.md,
// docs/gateway-api.md, the table of rights in docs/access.md, the layers in docs/middleware.md, the keys of
// servers in docs/config.md, and the tables in docs/observability.md. With --check it writes nothing and ends
// with 1 if one of them is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { apiPage, withRights } from "./api-page.mjs";
import { withFields } from "./fields-page.mjs";
import { withLayers } from "./layer-page.mjs";
import { withTables } from "./observability-page.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const check = process.argv.includes("--check");

/** Loads a module of src/, bundled, because Node 20 cannot run TypeScript. */
async function load(path) {
  const bundle = await rolldown({ input: join(root, path), platform: "node", external: /^[^./]/ });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  await bundle.close();
  return await import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString("base64")}`);
}

const RETRY = { true: "yes", false: "no", idempotent: "read-only and idempotent tools" };

function errorsPage(errors) {
  const rows = Object.entries(errors).map(
    ([code, { meaning, retryable }]) => `| \`${code}\` | ${meaning} | ${RETRY[retryable]} |`,
  );
  const reserved = Object.entries(errors)
    .filter(([, traits]) => traits.reserved)
    .map(([code, traits]) => `- \`${code}\`: ${traits.reserved}`);
  return `# Errors

MetaMCP reports two kinds of errors.

**A failed tool call is a result.** It has \`isError: true\`, a text that says what to do next, and in \`structuredContent.error\`:

\`\`\`json
{ "code": "server_unavailable", "message": "…", "server": "files", "tool_id": "files:read", "retryable": true, "retryAfterMs": 12000 }
\`\`\`

\`code\`, \`message\` and \`retryable\` are always present; \`tool_id\`, \`server\`, \`op\` (the tool of MetaMCP that failed), \`step_index\`,
\`retryAfterMs\` and \`details\` only if they apply. \`retryable\` is true only if a retry can help and can do no harm.
If a server itself returns a result with \`isError\`, the result passes unchanged, without these codes. Only \`run_tool\` and
\`run_chain\`, which return values instead of results, report it as \`execution_failed\`. A failed step of a chain is
\`chain_step_failed\` with the step's error in \`details.cause\`. A failed prompt or resource request gets the
JSON-RPC code -32603 with the same object as \`data\`. On the aggregate surface the object is in \`_meta["metamcp/error"]\`.

| code | meaning | retry can help |
|---|---|---|
${rows.join("\n")}

MetaMCP itself never returns these codes; they are for your own middleware and connectors:

${reserved.join("\n")}

The last column is the default for a code. A call that may have had effects is never retryable, and neither is a failure that a person must fix first: a missing command or folder, an unknown host, a redirect, 404.

**An invalid request is a JSON-RPC error.**

| code | when |
|---|---|
| \`-32700\` | It is not JSON. |
| \`-32600\` | It is not a request, it is larger than \`--max-message\`, or it came before \`initialize\`. |
| \`-32601\` | There is no such method. |
| \`-32602\` | There is no such tool, or the cursor is invalid or expired. |
| \`-32002\` | There is no such resource: a stored result has expired, or belongs to another client. Clients of 2026-07-28 get \`-32602\`. |
| \`-32603\` | MetaMCP is stopping, or has a bug. |

_Written by \`node scripts/docs.mjs\` from \`src/kernel/errors.ts\`._
`;
}

function settingsPage(settingsMarkdown, { FLAGS }, { SERVE_FLAGS, GATEWAY_FLAGS }) {
  return `# Flags and environment

Flags override environment variables, which override the config file. Times are milliseconds, or written as \`500ms\`, \`30s\`, \`5m\` or \`1h\`. An
unknown or invalid flag ends the program with exit code 2. [config.md](config.md) lists the keys of the config file.

A variable that ends with \`_FILE\` names a file with the value. Prefer it for secrets: the environment of a process is visible to other processes of its user.

${settingsMarkdown(FLAGS)}

## metamcp serve

The [gateway](gateway.md) takes these, and the flags above that are not about the config file, the surface or stdio; \`metamcp serve --help\` lists them.

${settingsMarkdown(SERVE_FLAGS)}

## metamcp gateway

The commands that talk to a running gateway also take these.

${settingsMarkdown(GATEWAY_FLAGS)}

_Written by \`node scripts/docs.mjs\` from \`src/config/flags.ts\` and \`src/config/gateway-flags.ts\`._
`;
}

const [
  { ERRORS },
  { settingsMarkdown },
  flags,
  gatewayFlags,
  { adminRoutes },
  { SCHEMAS },
  { MATRIX },
  metrics,
  observed,
  { BUILT_IN },
  { SERVER_FIELDS },
] = await Promise.all([
  load("src/kernel/errors.ts"),
  load("src/config/help.ts"),
  load("src/config/flags.ts"),
  load("src/config/gateway-flags.ts"),
  load("src/admin/routes/all.ts"),
  load("src/gateway/schemas.ts"),
  load("src/access/may.ts"),
  load("src/observe/metrics/instruments.ts"),
  load("src/admin/observe-schemas.ts"),
  load("src/middleware/built-in.ts"),
  load("src/config/server-fields.ts"),
]);
const pages = {
  "docs/errors.md": errorsPage(ERRORS),
  "docs/settings.md": settingsPage(settingsMarkdown, flags, gatewayFlags),
  // Only the descriptions of the routes are read, so their dependencies can be empty.
  "docs/gateway-api.md": apiPage(adminRoutes({}), SCHEMAS, { matrix: MATRIX, serverFields: SERVER_FIELDS }),
  "docs/access.md": withRights(readFileSync(join(root, "docs/access.md"), "utf8"), MATRIX),
  "docs/observability.md": withTables(readFileSync(join(root, "docs/observability.md"), "utf8"), {
    instruments: metrics.INSTRUMENTS,
    labels: metrics.LABELS,
    record: observed.AUDIT_RECORD.properties,
    query: observed.AUDIT_FIELDS,
  }),
  "docs/middleware.md": withLayers(readFileSync(join(root, "docs/middleware.md"), "utf8"), BUILT_IN),
  "docs/config.md": withFields(readFileSync(join(root, "docs/config.md"), "utf8"), SERVER_FIELDS),
};

for (const [name, text] of Object.entries(pages)) {
  const path = join(root, name);
  if (!check) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    process.stderr.write(`${name} is stale: run node scripts/docs.mjs\n`);
    process.exitCode = 1;
  }
}
