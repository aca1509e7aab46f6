// Writes docs/gateway-api.md from the table of routes and the schemas of the objects.

const KINDS = {
  server:
    "A server has all keys of an `.mcp.json` entry ([config.md](config.md)) and some that only a gateway has.",
  namespace: "A namespace groups servers. It sets which of their tools are on, and their names.",
  endpoint: "An endpoint publishes namespaces at `/metamcp/{name}/mcp`, with its own surface and access.",
  settings: "Settings of the gateway itself. There is only one settings object.",
};

export function apiPage(routes, schemas, { matrix, serverFields }) {
  const objects = Object.entries(KINDS).map(
    ([kind, about]) =>
      `### ${kind[0].toUpperCase()}${kind.slice(1)}\n\n${about}\n\n${fieldTable(schemas[kind], kind === "server" ? serverFields : undefined)}`,
  );
  return `# Objects and admin API of a gateway

A running gateway serves the admin API at \`/api/v1\`. \`GET /api/v1/openapi.json\` describes it as OpenAPI 3.1, from the same schemas that check the input.
\`PATCH /mcp-servers/{uuid}\` also works without \`/api/v1\`. \`metamcp gateway\` uses this API from a shell.

Scripts send \`Authorization: Bearer …\` with \`METAMCP_ADMIN_TOKEN\` or a key that has a role; people log in and send a cookie ([access.md](access.md)). Without credentials
the gateway answers 401, except on routes for anyone. A change with a cookie must come from a page of the gateway (\`Origin\`), else it gets 403.

\`\`\`sh
curl -H "Authorization: Bearer $METAMCP_ADMIN_TOKEN" -H 'Content-Type: application/json' \\
  -d '{"name": "files", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}' \\
  http://127.0.0.1:12008/api/v1/mcp-servers
\`\`\`

## Objects

Every object also has \`uuid\`, \`revision\` (the one that last changed it), \`createdAt\`, \`updatedAt\` and \`managedBy\` (\`"api"\` or \`"file:NAME"\`). These are
read-only: if you send them, they must be unchanged. Names are unique per kind; upper and lower case, and different Unicode forms, count as the same. You can refer to an object by
uuid or name, also in a path; answers contain the uuid.

${objects.join("\n\n")}

### API key

\`POST /api-keys {name, endpoints | role, tiers?, expiresAt?, owner?}\` returns the key once, as \`key\`; the store has only a keyed hash. \`endpoints\` is \`"all"\` or a list. \`role\` gives access to
this API instead of endpoints. \`tiers\` (\`readOnly\`, \`write\`, \`destructive\`) limits the key to tools of these tiers. Clients send the key as \`X-API-Key\` or \`Authorization: Bearer\`. Keys \`sk_mt_…\` of an older MetaMCP can be imported: [moving.md](moving.md).

## Routes

The caller needs at least the given role. From most to fewest rights: admin, editor, viewer, member.

| route | what | least role | query |
|---|---|---|---|
${routes.map((route) => routeRow(route, matrix)).join("\n")}

## Rules

- **Secrets.** Every value of \`env\` and \`headers\`, and \`oauth.clientSecret\`, is returned as \`"********"\`, unless it is exactly one \`\${VAR}\`. Sending this text in a PATCH
  keeps the stored value; if there is none, the answer is 422.
- **PATCH** is JSON Merge Patch (RFC 7396): a field that is left out stays, \`null\` removes it.
- **Changing a server.** When the answer arrives, the change is stored, the server is reconnected if its connection settings changed, and clients are notified. The answer is
  \`{message, server, connection, namespaces}\`. If the new server cannot be reached, the change still succeeds, with \`connection.state: "failed"\` and the reason.
- **Concurrent changes.** \`ETag\` is the revision of an object. \`If-Match\` with an older revision gets 412, with the current object in \`current\`.
- **\`?dryRun=true\`** on any write returns \`{changes: [{op, kind, name, fields?}]}\` and changes nothing.
- **\`?force=true\`** also removes a server or namespace from all objects that use it. Without it the answer is 409 and names these objects.
- **\`?takeOver=true\`** changes an object that a file manages; from then on the API manages it. Without it the answer is 409 and names the file.
- **Lists** are \`{items, nextCursor?}\`, with \`?limit\` (100, at most 500), \`?cursor\` and \`?q\` (a text in name or description).
- **The document** of \`GET /config\` has names instead of ids, and no secrets; \`needs\` lists the missing ones. \`POST /config/apply\` applies a document
  in one revision or not at all. Each object in it must be complete; secrets that it leaves out stay. With \`Accept: application/yaml\` it is YAML.

## Errors

RFC 9457, \`application/problem+json\`: \`{type, title, status, detail, errors: [{path, message}]}\`. \`path\` is a JSON Pointer into the request body. A failed request changes nothing.

| status | when |
|---|---|
| 400 | the body or the query cannot be read |
| 401 | no valid credentials, or a wrong password |
| 403 | the role does not allow it |
| 404, 405 | not found; method not allowed |
| 409 | the name is taken, the object is in use, a file manages it, or tool names collide |
| 412 | somebody else changed the object; \`current\` is its current state |
| 413, 415 | the body is too large: 1 MB, 256 KB of YAML, 16 KB without a login; at most 20,000 values and 2,000 objects with their variables and headers; the content type is not JSON |
| 422 | the content is invalid: unknown fields, wrong types, unknown references |
| 429 | too many failed logins; try again after \`Retry-After\` seconds |
| 503 | the store cannot be reached; try again after \`Retry-After\` seconds |

_Written by \`node scripts/docs.mjs\` from \`src/admin/routes/\`, \`src/gateway/schemas.ts\` and \`src/config/server-fields.ts\`._
`;
}

function routeRow({ method, path, summary, action, role, query = {} }, matrix) {
  const shown = path.replaceAll(/:(\w+)/g, "{$1}");
  const names = Object.keys(query).map((name) => `\`${name}\``);
  const { least, others } = role ? { least: role } : matrix[action];
  const who = others ? `${least}; of others: ${others}` : least;
  return `| \`${method} ${shown}\` | ${summary} | ${who} | ${names.join(", ")} |`;
}

function fieldTable({ properties, required = [] }, meanings) {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const preset = required.includes(name) ? "required" : "default" in schema ? code(schema.default) : "";
    const meaning = meanings ? ` ${meanings[name].about} |` : "";
    return `| \`${name}\` | ${cell(typeOf(schema))} | ${preset} |${meaning}`;
  });
  const [title, line] = meanings ? [" meaning |", "---|"] : ["", ""];
  return [`| field | what | default |${title}`, `|---|---|---|${line}`, ...rows].join("\n");
}

function typeOf({ type, description, properties, items, anyOf, enum: choices, minimum, maximum }) {
  if (choices) return choices.map((choice) => `\`"${choice}"\``).join(" or ");
  if (description) return description.replace("a text without NUL characters", "text");
  if (anyOf) return anyOf.map(typeOf).join(" or ");
  if (type === "array")
    return `list of ${items && Object.keys(items).length > 0 ? typeOf(items) : "anything"}`;
  if (properties) return `\`{ ${Object.keys(properties).join(", ")} }\``;
  if (type === "object") return "object, by name";
  if (type === "string") return "text";
  if (type === "boolean") return "true or false";
  return maximum === undefined ? "whole number" : `whole number, ${minimum} to ${maximum}`;
}

const code = (value) => `\`${JSON.stringify(value)}\``;
const cell = (text) => text.replaceAll("|", "\\|");

const MARK = /<!-- rights -->[\s\S]*<!-- \/rights -->/;
const ROLES = ["admin", "editor", "viewer", "member"];

/** Replaces the table of rights in a page. The rest of the page is written by hand. */
export function withRights(page, matrix) {
  const rows = Object.entries(matrix)
    .filter(([, { least }]) => least !== "anyone")
    .map(([, { least, others, what }]) => {
      const cells = ROLES.map((_, rank) => {
        if (others && rank <= ROLES.indexOf(others)) return "yes";
        if (rank > ROLES.indexOf(least)) return "";
        return others ? "their own" : "yes";
      });
      return `| ${what} | ${cells.join(" | ")} |`;
    });
  const table = [`| may | ${ROLES.join(" | ")} |`, "|---|---|---|---|---|", ...rows].join("\n");
  return page.replace(MARK, () => `<!-- rights -->\n${table}\n<!-- /rights -->`);
}
