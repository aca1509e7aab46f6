// Writes docs/gateway-api.md from the table of routes and the schemas of the objects.

const KINDS = {
  server:
    "A server is every key of an entry of `.mcp.json` ([config.md](config.md)), and what a gateway adds.",
  namespace: "A namespace puts servers together and says which of their tools are on, and under which names.",
  endpoint: "An endpoint offers namespaces at `/metamcp/{name}/mcp`, with its own surface and access.",
  settings: "Settings of the gateway itself. There is one object of them.",
};

export function apiPage(routes, schemas, matrix) {
  const objects = Object.entries(KINDS).map(
    ([kind, about]) =>
      `### ${kind[0].toUpperCase()}${kind.slice(1)}\n\n${about}\n\n${fieldTable(schemas[kind])}`,
  );
  return `# Objects and admin API of a gateway

\`/api/v1\` of a gateway that runs. \`GET /api/v1/openapi.json\` describes all of it as OpenAPI 3.1, made from the schemas that check the input.
\`PATCH /mcp-servers/{uuid}\` also works without \`/api/v1\`. \`metamcp gateway\` is the same API from a shell.

Scripts send \`Authorization: Bearer …\` with \`METAMCP_ADMIN_TOKEN\` or a key that has a role; people log in and send a cookie ([access.md](access.md)). Without one of them
every path but those for anyone answers 401. A change with a cookie must come from a page of the gateway (\`Origin\`), else it is 403.

\`\`\`sh
curl -H "Authorization: Bearer $METAMCP_ADMIN_TOKEN" -H 'Content-Type: application/json' \\
  -d '{"name": "files", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}' \\
  http://127.0.0.1:12008/api/v1/mcp-servers
\`\`\`

## Objects

Every object also has \`uuid\`, \`revision\` (the one that last changed it), \`createdAt\`, \`updatedAt\` and \`managedBy\` (\`"api"\` or \`"file:NAME"\`). These are
read-only; sent back, they must be as they are. Names are unique per kind, compared without regard to case and to how Unicode composes them. A reference is a
uuid or a name, also in a path, and is answered as a uuid.

${objects.join("\n\n")}

### API key

\`POST /api-keys {name, endpoints | role, tiers?, expiresAt?, owner?}\` answers the key once, as \`key\`. It is stored as a keyed hash. \`endpoints\` is \`"all"\` or a list; \`role\` opens
this API instead; \`tiers\` (\`readOnly\`, \`write\`, \`destructive\`) limits it to tools of these tiers. Clients send it as \`X-API-Key\` or \`Authorization: Bearer\`. Keys \`sk_mt_…\` of another system can be taken over: [moving.md](moving.md).

## Routes

The role is the least that the caller must have; each role can do all that the next can: admin, editor, viewer, member.

| route | what | least role | query |
|---|---|---|---|
${routes.map((route) => routeRow(route, matrix)).join("\n")}

## Rules

- **Secrets.** Every value of \`env\` and \`headers\`, and \`oauth.clientSecret\`, is answered as \`"********"\`, unless it is wholly one \`\${VAR}\`. The same text in a PATCH
  keeps what is stored; where nothing is stored it is 422.
- **PATCH** is JSON Merge Patch (RFC 7396): a field that is left out stays, \`null\` removes it.
- **Changing a server** is done when it is answered: stored, connected anew where the way to reach it changed, views compiled, clients told. The answer is
  \`{message, server, connection, namespaces}\`. A server that cannot be reached is a success of the change, with \`connection.state: "failed"\` and the reason.
- **Two people at once.** \`ETag\` is the revision of an object. \`If-Match\` with an older one is 412, with the object as it is now in \`current\`.
- **\`?dryRun=true\`** on any write answers \`{changes: [{op, kind, name, fields?}]}\` and changes nothing.
- **\`?force=true\`** also removes a server or namespace from whatever uses it. Without, that is 409 and says who uses it.
- **\`?takeOver=true\`** changes what a file manages; the API manages it then. Without, that is 409 and names the file.
- **Lists** are \`{items, nextCursor?}\`, with \`?limit\` (100, at most 500), \`?cursor\` and \`?q\` (a text in name or description).
- **The document** of \`GET /config\` has names instead of ids, and no secrets: \`needs\` lists them. \`POST /config/apply\` makes the config what the document
  says, in one revision or not at all. An object in it is whole; secrets that it does not give stay. With \`Accept: application/yaml\` it is YAML.

## Errors

RFC 9457, \`application/problem+json\`: \`{type, title, status, detail, errors: [{path, message}]}\`. \`path\` is a JSON Pointer into what was sent. Nothing is changed.

| status | when |
|---|---|
| 400 | the body or the query cannot be read |
| 401 | no credential, or a wrong one; a wrong password |
| 403 | the role does not allow it |
| 404, 405 | nothing is there; not with this method |
| 409 | the name is taken, it is still in use, a file manages it, or names of tools collide |
| 412 | it was changed meanwhile; \`current\` is how it is now |
| 413, 415 | more than 4 MB; another content type than JSON |
| 422 | the content is invalid: unknown fields, wrong types, references to nothing |
| 429 | too many failed logins; try again after \`Retry-After\` seconds |
| 503 | the store cannot be reached; try again after \`Retry-After\` seconds |

_Written by \`node scripts/docs.mjs\` from \`src/admin/routes/\` and \`src/gateway/schemas.ts\`._
`;
}

function routeRow({ method, path, summary, action, role, query = {} }, matrix) {
  const shown = path.replaceAll(/:(\w+)/g, "{$1}");
  const names = Object.keys(query).map((name) => `\`${name}\``);
  const { least, others } = role ? { least: role } : matrix[action];
  const who = others ? `${least}; of others: ${others}` : least;
  return `| \`${method} ${shown}\` | ${summary} | ${who} | ${names.join(", ")} |`;
}

function fieldTable({ properties, required = [] }) {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const preset = required.includes(name) ? "required" : "default" in schema ? code(schema.default) : "";
    return `| \`${name}\` | ${cell(typeOf(schema))} | ${preset} |`;
  });
  return ["| field | what | default |", "|---|---|---|", ...rows].join("\n");
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

/** The table of rights within a page that is written by hand. */
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
