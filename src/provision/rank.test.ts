import { expect, test } from "vitest";
import type { Candidate } from "./candidate.ts";
import { galleryCandidates } from "./gallery/gallery.ts";
import { isRegistryName, MIN_FIT, rankCandidates } from "./rank.ts";

test.each([
  ["crawl a website and extract links", ["firecrawl", "hyperbrowser", "tavily"]],
  ["I need to query Postgres", ["postgres", "sql", "supabase", "neon"]],
  ["send an email", ["gmail", "resend"]],
  ["take a screenshot of a web page", ["playwright", "puppeteer"]],
  ["screenshot a web page", ["playwright", "puppeteer"]],
  ["search the web", ["brave-search", "duckduckgo", "tavily", "exa", "searxng"]],
  ["manage my to-do list", ["todoist"]],
  ["read a PDF", ["pdf", "pdf-reader"]],
  ["what time is it in Tokyo", ["time"]],
  ["look at kubernetes pods", ["kubernetes"]],
  ["draw a bar chart", ["chart"]],
  ["convert a Word document to markdown", ["markitdown"]],
  ["post a message to a Slack channel", ["slack"]],
  ["control the lights at home", ["home-assistant"]],
  ["get the subtitles of a YouTube video", ["youtube-transcript"]],
  ["create a Jira issue", ["atlassian"]],
  ["see why the CI build failed", ["circleci"]],
  ["remember facts between conversations", ["memory"]],
])('the best match for "%s" is a suitable server', async (task, good) => {
  const [first] = await rankCandidates(await galleryCandidates(), task, 5);
  expect(good).toContain(first?.candidate.name);
  expect(first?.fit).toBeGreaterThanOrEqual(MIN_FIT);
});

test.each([
  "book a flight to Paris",
  "translate text to German",
  "play chess",
  "predict the stock market",
  "tune a guitar",
  "measure blood pressure",
  "solve differential equations symbolically",
  "weather forecast for tomorrow",
  "knit a sweater",
  "zxqv blorp",
])('no server of the gallery fits "%s"', async (task) => {
  const ranked = await rankCandidates(await galleryCandidates(), task, 5);
  for (const { fit, candidate } of ranked) expect(fit, candidate.name).toBeLessThan(MIN_FIT);
});

const candidate = (id: string, description: string): Candidate => ({
  id,
  name: id.split("/")[1] ?? id,
  description,
  from: "registry",
  version: "1.0.0",
  publishers: [],
  verified: true,
  entry: { command: "npx", args: [] },
  variables: [],
});

test("of the servers that fit, none stands behind one that fits less", async () => {
  for (const task of ["screenshot a web page", "take a screenshot of a website", "read a web page"]) {
    const ranked = await rankCandidates(await galleryCandidates(), task, 5);
    const fits = ranked.map(({ fit }) => fit).filter((fit) => fit >= MIN_FIT);
    expect(fits.length).toBeGreaterThan(1);
    expect(fits).toEqual(fits.toSorted((a, b) => b - a));
  }
});

test("of two ids that differ only in case the exact one wins", async () => {
  const both = ["io.github.Some/one", "io.github.some/one"].map((id) => candidate(id, "Mail."));
  const ids = async (query: string) => (await rankCandidates(both, query, 5)).map((one) => one.candidate.id);
  expect(await ids("io.github.some/one")).toEqual(["io.github.some/one"]);
  expect(await ids("io.github.SOME/one")).toHaveLength(2);
});

test("a full registry name finds that server in any case, and no similar one", async () => {
  const all = [candidate("io.github.Ann/mail", "Mail."), candidate("io.github.bob/mail", "Mail.")];
  expect(await rankCandidates(all, "io.github.ann/mail ", 5)).toMatchObject([{ candidate: all[0], fit: 1 }]);
  expect(await rankCandidates(all, "io.github.eve/mail", 5)).toEqual([]);
  expect(isRegistryName("send mail")).toBe(false);
});

test("all of many equal servers fit, and publishers and index numbers are not searched", async () => {
  const all = Array.from({ length: 30 }, (_, at) =>
    candidate(`io.github.query${at}/db`, "Query a PostgreSQL database."),
  );
  all.push(candidate("io.github.postgres/paint", "Paint pictures with watercolours."));
  const ranked = await rankCandidates(all, "query a postgresql database", 10);
  expect(ranked).toHaveLength(10);
  for (const { fit, candidate: one } of ranked) {
    expect(fit).toBeGreaterThan(MIN_FIT);
    expect(one.name).not.toBe("paint");
  }
  for (const { fit } of await rankCandidates(all, "7", 5)) expect(fit).toBeLessThan(MIN_FIT);
});
