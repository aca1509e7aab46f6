/**
 * Whether configured servers are recognised as sufficient for a task, measured on the golden questions with
 * and without the servers that answer them.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { listBy } from "../../test/support/catalog.ts";
import { ToolCache } from "../catalog/cache.ts";
import { Catalog } from "../catalog/catalog.ts";
import { CatalogLoader } from "../catalog/catalog-loader.ts";
import { createSearch } from "../catalog/search/search.ts";
import { systemClock as clock } from "../engine/system-clock.ts";
import { silentLog } from "../kernel/log.ts";
import { LOCAL } from "../kernel/principal.ts";
import { EMPTY_OBJECT, toRaw } from "../kernel/raw.ts";
import { hasBetterCandidate } from "./better-candidate.ts";
import { galleryCandidates } from "./gallery/gallery.ts";
import { searchLocal } from "./local.ts";

const golden = new URL("../../test/golden-retrieval/", import.meta.url);
const questions = readFileSync(new URL("questions.txt", golden), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [text = "", tools = ""] = line.split(" -> ");
    return { text, servers: tools.split(/, |\//).map((tool) => tool.split(":")[0] ?? "") };
  });
const home = mkdtempSync(join(tmpdir(), "metamcp-local-"));
afterAll(() => rmSync(home, { recursive: true }));

const origin = {
  ...LOCAL,
  session: "s",
  capabilities: EMPTY_OBJECT,
  uplink: { notify: () => {}, request: () => Promise.reject(new Error("nobody")) },
};

async function openSearch(servers: readonly string[]) {
  const catalog = new Catalog({
    cache: new ToolCache({ home, log: silentLog }),
    search: createSearch(),
    clock,
    log: silentLog,
  });
  catalog.configure(new Map(servers.map((server) => [server, { identity: server, permits: () => true }])));
  for (const server of servers) {
    const file = readdirSync(new URL("tools/", golden)).find((name) => name === `${server}.json`) ?? "";
    const list = JSON.parse(readFileSync(new URL(`tools/${file}`, golden), "utf8")) as { tools: unknown };
    await catalog.refresh(listBy(server), () => Promise.resolve(toRaw({ tools: list.tools })), {
      era: "legacy",
      offers: "tools",
    });
  }
  const loader = new CatalogLoader({ catalog, clock, connect: () => Promise.resolve(), cooldownMs: () => 1 });
  const compared = { candidates: await galleryCandidates(), servers, configured: () => Promise.resolve("") };
  return async (...queries: string[]) => {
    const { tools, fit } = await searchLocal(
      { view: () => catalog, loader, servers: () => servers },
      queries,
      origin,
    );
    return (await hasBetterCandidate(fit, queries, compared)) ? [] : tools;
  };
}

const SETS = [
  ["everything", "filesystem", "memory", "sequential-thinking"],
  ["github", "gitlab", "slack"],
  ["playwright", "pdf", "chart"],
  ["mongodb", "kubernetes", "notion"],
  ["google-maps", "tavily", "memory"],
];

test("at least 93 % of the tasks that a server answers find a tool, and at most 6 % of the others", {
  timeout: 120_000,
}, async () => {
  const seen = { served: [0, 0], unserved: [0, 0] };
  for (const set of SETS) {
    const look = await openSearch(set);
    for (const { text, servers } of questions) {
      const count = servers.some((server) => set.includes(server)) ? seen.served : seen.unserved;
      count[0] = (count[0] ?? 0) + 1;
      if ((await look(text)).length > 0) count[1] = (count[1] ?? 0) + 1;
    }
  }
  const share = ([all = 1, found = 0]: readonly number[]): number => Math.round((100 * found) / all);
  expect(share(seen.served)).toBeGreaterThanOrEqual(93);
  expect(share(seen.unserved)).toBeLessThanOrEqual(6);
});

test.each([
  "crawl a website and extract links",
  "query postgres",
  "query a Postgres database",
  "I want to query a MySQL database",
  "search the web",
  "transcribe audio",
  "send an email",
  "get the weather",
  "draw a chart",
  "translate text to German",
])('the reference servers have no tool for "%s"', async (task) => {
  expect(await (await openSearch(SETS[0] as string[]))(task)).toEqual([]);
});

test.each([
  ["read a text file", "read_text_file"],
  ["create a new folder", "create_directory"],
  ["show the knowledge graph", "read_graph"],
  ["add two numbers", "get-sum"],
  ["list files in a folder", "list_directory"],
  ["get environment variables", "get-env"],
])('the reference servers have a tool for "%s"', async (task, tool) => {
  const tools = await (await openSearch(SETS[0] as string[]))(task);
  expect(tools.map((found) => found.tool)).toContain(tool);
});
