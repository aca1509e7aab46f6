// Writes the documentation pages that come from tables in the code: docs/errors.md, docs/settings.md, docs/gateway-api.md, the
// table of rights in docs/access.md, the layers in docs/middleware.md, and the tables in docs/observability.md.
// With --check it writes nothing and ends with 1 if one of them is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { apiPage, withRights } from "./api-page.mjs";
import { withLayers } from "./layer-page.mjs";
import { withTables } from "./observability-page.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const check = process.argv.includes("--check");

/** A module of src/, whatever Node can read of TypeScript itself. */
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

Two kinds, which are never mixed.

**A failed tool is a result.** It has \`isError: true\`, a text that says what to do next, and in \`structuredContent.error\`:

\`\`\`json
{ "code": "server_unavailable", "message": "…", "server": "files", "tool_id": "files:read", "retryable": true, "retryAfterMs": 12000 }
\`\`\`

\`code\`, \`message\` and \`retryable\` are always there; \`tool_id\`, \`server\`, \`op\` (which of our own tools it was), \`step_index\`,
\`retryAfterMs\` and \`details\` where they apply. \`retryable\` is true only where trying again can help and can do no harm.
A result of a server that says \`isError\` itself passes unchanged and carries none of these codes; only \`run_tool\` and
\`run_chain\`, which give values instead of results, report it as \`execution_failed\`. A failed step of a chain is
\`chain_step_failed\` with the step's own error in \`details.cause\`. What is no tool call (a prompt, a resource) answers with
JSON-RPC code -32603 and the same object as its \`data\`.

| code | meaning | trying again can help |
|---|---|---|
${rows.join("\n")}

Some of them only middleware and connectors of others can give; MetaMCP itself does not:

${reserved.join("\n")}

What is known about the particular case wins over the last column: a call that may have had effects is not retryable,
whatever its code.

**A request that is no proper request is a JSON-RPC error.**

| code | when |
|---|---|
| \`-32700\` | It is not JSON. |
| \`-32600\` | It is no request, it is over \`--max-message\`, or it came before \`initialize\`. |
| \`-32601\` | There is no such method. |
| \`-32602\` | We have no tool of that name, or a cursor is not valid here (anymore). |
| \`-32002\` | There is no such resource: a stored result has expired, or was somebody else's. Clients of 2026-07-28 get \`-32602\`. |
| \`-32603\` | MetaMCP is stopping, or has a bug. |

_Written by \`node scripts/docs.mjs\` from \`src/kernel/errors.ts\`._
`;
}

function settingsPage(table) {
  return `# Flags and environment

Defaults < config file < environment < flags. Times are milliseconds; \`500ms\`, \`30s\`, \`5m\`, \`1h\` are understood too. A flag that is
unknown or does not parse ends with exit code 2. The keys of the config file are in [config.md](config.md).

${table}

_Written by \`node scripts/docs.mjs\` from \`src/config/flags.ts\`._
`;
}

const [
  { ERRORS },
  { settingsMarkdown },
  { adminRoutes },
  { SCHEMAS },
  { MATRIX },
  metrics,
  observed,
  { BUILT_IN },
] = await Promise.all([
  load("src/kernel/errors.ts"),
  load("src/config/help.ts"),
  load("src/admin/routes/all.ts"),
  load("src/gateway/schemas.ts"),
  load("src/access/may.ts"),
  load("src/observe/metrics/instruments.ts"),
  load("src/admin/observe-schemas.ts"),
  load("src/middleware/built-in.ts"),
]);
const pages = {
  "docs/errors.md": errorsPage(ERRORS),
  "docs/settings.md": settingsPage(settingsMarkdown()),
  // The routes are described, none is run.
  "docs/gateway-api.md": apiPage(adminRoutes({}), SCHEMAS, MATRIX),
  "docs/access.md": withRights(readFileSync(join(root, "docs/access.md"), "utf8"), MATRIX),
  "docs/observability.md": withTables(readFileSync(join(root, "docs/observability.md"), "utf8"), {
    instruments: metrics.INSTRUMENTS,
    labels: metrics.LABELS,
    record: observed.OBSERVE_COMPONENTS.AuditRecord.properties,
    query: observed.AUDIT_FIELDS,
  }),
  "docs/middleware.md": withLayers(readFileSync(join(root, "docs/middleware.md"), "utf8"), BUILT_IN),
};

for (const [name, text] of Object.entries(pages)) {
  const path = join(root, name);
  if (!check) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    process.stderr.write(`${name} is stale: run node scripts/docs.mjs\n`);
    process.exitCode = 1;
  }
}
