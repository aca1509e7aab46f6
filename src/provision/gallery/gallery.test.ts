import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { confinedServers } from "../../../test/support/confined-servers.ts";
import { checkServer } from "../../config/server.ts";
import { references } from "../../config/variables.ts";
import { addressesOf } from "../candidate.ts";
import { planOf } from "../plan.ts";
import type { GalleryEntry } from "./entry.ts";
import { galleryCandidates, galleryCategories, suggestions } from "./gallery.ts";

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../data/gallery/${name}`, import.meta.url), "utf8"));
const { servers } = read("gallery.json") as { servers: GalleryEntry[] };
const [all, categories] = await Promise.all([galleryCandidates(), galleryCategories()]);

test("the gallery is valid against its schema", () => {
  const validate = new Ajv2020({ strict: true, strictRequired: false, allErrors: true }).compile(
    read("schema.json") as object,
  );
  validate(read("gallery.json"));
  expect(validate.errors ?? []).toEqual([]);
});

test("the schema rejects unsafe and incomplete entries", () => {
  const validate = new Ajv2020({ strictRequired: false }).compile({
    ...(read("schema.json") as object),
    $ref: "#/$defs/server",
    type: "object",
    required: [],
    additionalProperties: true,
  });
  const good = servers.find(({ name }) => name === "memory") as GalleryEntry & { package: object };
  expect(validate(good)).toBe(true);
  const pypi = servers.find(({ name }) => name === "fetch");
  const bad: object[] = [
    { ...good, name: "../memory" },
    { ...good, name: "metamcp" },
    { ...good, category: "other" },
    { ...good, link: "http://example.com" },
    { ...good, package: { ...good.package, version: "latest" } },
    { ...good, package: { ...good.package, version: "^1.0.0" } },
    { ...good, package: { ...good.package, identifier: "a; b" } },
    { ...good, package: { ...good.package, arguments: ["$(whoami)"] } },
    { ...good, package: { ...good.package, arguments: ["a && b"] } },
    { ...good, package: undefined },
    { ...good, remote: { type: "http", url: "https://example.com/mcp" } },
    {
      ...good,
      variables: [{ name: "lower case", description: "No good name.", required: true, secret: true }],
    },
    { ...pypi, verified: true },
  ];
  for (const entry of bad)
    expect(validate(JSON.parse(JSON.stringify(entry))), JSON.stringify(entry)).toBe(false);
});

test("the gallery has at least 60 servers, sorted, with unique names and descriptions", () => {
  const names = servers.map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(60);
  expect(names).toEqual([...new Set(names)].toSorted());
  expect(new Set(servers.map(({ description }) => description)).size).toBe(names.length);
  expect(all.map(({ name }) => name)).toEqual(names);
  expect(categories.length).toBeGreaterThan(5);
});

test("exactly the npm packages are verified", () => {
  for (const { name, package: source, verified } of servers)
    expect([name, verified]).toEqual([name, source?.registry === "npm"]);
});

test.each(all.map((candidate) => [candidate.name, candidate] as const))(
  "the entry of %s is valid, and it declares exactly the variables that it uses",
  (_, candidate) => {
    const { entry, variables, name } = candidate;
    const texts =
      "command" in entry
        ? [...entry.args, ...Object.values(entry.env ?? {})]
        : [...addressesOf(entry), ...Object.values(entry.headers ?? {})];
    const used = new Set(texts.flatMap((text) => references(text)).map((one) => one.name));
    expect([...used].toSorted()).toEqual(variables.map((one) => one.name).toSorted());

    const given = Object.fromEntries(variables.map((one) => [one.name, "https://example.com"]));
    const around = { path: "/work/.mcp.json", folder: "/work", env: given };
    expect(checkServer(name, entry, around)).toMatchObject({ result: { spec: { name } }, warnings: [] });
    const { missing, flaw } = planOf(candidate, {});
    expect(flaw).toBeUndefined();
    expect(missing.toSorted()).toEqual(
      variables
        .filter(({ required }) => required)
        .map((one) => one.name)
        .toSorted(),
    );
  },
);

test("each package registry has its runner, and the version is exact", () => {
  const entryOf = (name: string): unknown => all.find((one) => one.name === name)?.entry;
  const { version } = servers.find(({ name }) => name === "memory")?.package ?? {};
  expect(entryOf("memory")).toEqual({
    command: "npx",
    args: ["-y", `@modelcontextprotocol/server-memory@${version}`],
    env: { MEMORY_FILE_PATH: `\${MEMORY_FILE_PATH}` },
    sandbox: { network: "none" },
  });
  expect(entryOf("git")).toMatchObject({
    command: "uvx",
    args: [expect.stringMatching(/^mcp-server-git@\d/), "--repository", `\${GIT_REPOSITORY}`],
  });
  expect(entryOf("grafana")).toMatchObject({
    command: "docker",
    args: [
      "run",
      "-i",
      "--rm",
      "-e",
      "GRAFANA_URL",
      "-e",
      "GRAFANA_SERVICE_ACCOUNT_TOKEN",
      expect.stringMatching(/:\d/),
      "-t",
      "stdio",
    ],
    env: { GRAFANA_URL: `\${GRAFANA_URL}` },
  });
  expect(entryOf("postgres")).toMatchObject({ env: { DSN: `\${POSTGRES_URL}` } });
  expect(entryOf("linear")).toEqual({ type: "http", url: "https://mcp.linear.app/mcp" });
});

test("suggestions finds similar names, else servers by their description", async () => {
  expect((await suggestions("postgress"))[0]).toBe("postgres");
  expect((await suggestions("git-hub"))[0]).toBe("github");
  expect(await suggestions("invoices")).toContain("stripe");
  expect(await suggestions("qqqqqq")).toEqual([]);
});

test("the gallery has the settings with which servers were seen to run confined", () => {
  const documented = new Map(confinedServers().map((one) => [one.package, one.sandbox]));
  expect(documented.size).toBe(19);
  const listed = servers.filter(({ package: from }) => from && documented.has(from.identifier));
  expect(listed.length).toBeGreaterThanOrEqual(15);
  for (const { name, package: from, sandbox = true } of listed)
    expect(sandbox, name).toEqual(documented.get(from?.identifier ?? ""));
  expect(servers.filter(({ sandbox }) => sandbox).every(({ package: from }) => from)).toBe(true);
});
