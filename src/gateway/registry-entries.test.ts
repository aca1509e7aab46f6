/** Entries of the registry against the rules of `server.json`, and pages of its list. */
import { expect, test } from "vitest";
import type { StoredObject } from "./objects.ts";
import { catalogOf, registryEntry, serverCard } from "./registry-entries.ts";
import { registryPage } from "./registry-page.ts";

const AT = "2026-01-02T03:04:05.000Z";
const LATER = "2026-05-02T03:04:05.000Z";

function endpoint(name: string, spec: object = {}): StoredObject<"endpoint"> {
  const access = { public: false, keys: true, oauth: true, queryKey: false };
  return {
    kind: "endpoint",
    uuid: name,
    name,
    revision: 7,
    managedBy: "api",
    createdAt: AT,
    updatedAt: AT,
    spec: { description: "", access, ...spec },
  } as unknown as StoredObject<"endpoint">;
}

const entryOf = (name: string, spec: object = {}, base = "https://mcp.example.org") =>
  registryEntry(endpoint(name, spec), { base, listedAt: AT });

test.each([
  ["https://mcp.example.org", "org.example.mcp/dev_1"],
  ["https://mcp.example.org:8443", "org.example.mcp/dev_1"],
  ["http://127.0.0.1:12008", "127.0.0.1/dev_1"],
  ["http://[::1]:12008", "1/dev_1"],
])("at %s an endpoint has the name %s", (base, name) => {
  const { server } = entryOf("dev_1", {}, base);
  expect(server.name).toBe(name);
  expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(server.remotes).toEqual([{ type: "streamable-http", url: `${base}/metamcp/dev_1/mcp` }]);
});

test("an entry has a description of 1 to 100 characters and a version for each change", () => {
  expect(entryOf("dev").server).toMatchObject({ description: "MCP endpoint dev", version: "1.0.7" });
  const { description } = entryOf("dev", { description: `${"word ".repeat(40)}\nsecond line` }).server;
  expect(description.length).toBeLessThanOrEqual(100);
  expect(description).toMatch(/^word .*…$/);
});

test("only an endpoint that takes nothing but keys demands one", () => {
  const headers = (access: object) => entryOf("dev", { access }).server.remotes?.[0]?.headers;
  expect(headers({ public: false, keys: true, oauth: false })).toEqual([
    expect.objectContaining({ name: "X-API-Key", isRequired: true, isSecret: true }),
  ]);
  expect(headers({ public: true, keys: true, oauth: false })).toBeUndefined();
  expect(headers({ public: false, keys: true, oauth: true })).toBeUndefined();
});

test("the card and the catalog are as the drafts have them", () => {
  const entry = entryOf("dev");
  const schema = "https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json";
  expect(serverCard(entry)).toEqual({ ...entry.server, $schema: schema });
  expect(catalogOf([entry], "https://mcp.example.org")).toEqual({
    specVersion: "draft",
    entries: [
      {
        identifier: "urn:air:mcp.example.org:dev",
        displayName: "dev",
        type: "application/mcp-server-card+json",
        url: "https://mcp.example.org/metamcp/dev/mcp/server-card",
      },
    ],
  });
});

test("pages lead to the end, each entry once", () => {
  const all = Array.from({ length: 7 }, (_, at) => entryOf(`e${at}`)).toReversed();
  const names: string[] = [];
  let cursor = "";
  for (let pages = 0; pages < 9; pages += 1) {
    const page = registryPage(all, new URLSearchParams({ limit: "3", ...(cursor && { cursor }) }));
    if (typeof page === "string") throw new Error(page);
    expect(page.metadata.count).toBe(page.servers.length);
    names.push(...page.servers.map(({ server }) => server.title));
    cursor = page.metadata.nextCursor ?? "";
    if (cursor === "") break;
  }
  expect(names).toEqual(["e0", "e1", "e2", "e3", "e4", "e5", "e6"]);
});

test("search, version and time narrow the list; what was listed later counts as changed then", () => {
  const all = [
    entryOf("docs"),
    registryEntry(endpoint("build"), { base: "https://mcp.example.org", listedAt: LATER }),
  ];
  const titles = (query: Record<string, string>) => {
    const page = registryPage(all, new URLSearchParams(query));
    return typeof page === "string" ? page : page.servers.map(({ server }) => server.title);
  };
  expect(titles({ search: "DOC" })).toEqual(["docs"]);
  expect(titles({ version: "latest" })).toEqual(["build", "docs"]);
  expect(titles({ version: "0.1.0" })).toEqual([]);
  expect(titles({ updated_since: "2026-03-01T00:00:00Z" })).toEqual(["build"]);
  expect(titles({ updated_since: "yesterday" })).toMatch(/updated_since/);
  for (const limit of ["0", "-1", "x", "1.5"]) expect(titles({ limit })).toMatch(/limit/);
});
