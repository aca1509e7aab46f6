/** The code for replicas is loaded where there may be several, and nowhere else. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { onPostgres, SECRET } from "../../support/replicas.ts";
import { type TeamProcess, teamProcess } from "../../support/team-process.ts";
import { ROOT, temp } from "../../support/temp.ts";
import { postgresDatabase } from "../../support/test-databases.ts";

/** A text in each part of it, which no other part has. */
const PARTS = {
  members: "a replica is dead: its sessions go on at the others",
  sharing: "the other replicas took this one for dead",
  channel: "the TLS handshake took too long",
  placements: "a renewal of placements failed",
  limits: "limits are not shared while the database is away",
  rows: "INSERT INTO metamcp_replicas",
};

type Part = keyof typeof PARTS;

/** The parts that a gateway has loaded until its end. */
async function loadedBy(start: (env: Record<string, string>) => Promise<TeamProcess>): Promise<Part[]> {
  const folder = temp().path("coverage");
  const gateway = await start({ ...SECRET, NODE_V8_COVERAGE: folder });
  expect((await gateway.api("GET", "/replicas")).status).toBe(200);
  await gateway.kill("SIGTERM");
  const reports = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));
  const urls = reports.flatMap(({ result }) => result.map(({ url }: { url: string }) => url));
  const dist = `file://${join(ROOT, "dist")}/`;
  const text = urls
    .filter((url) => url.startsWith(dist))
    .map((url) => readFileSync(new URL(url), "utf8"))
    .join("");
  expect(text).not.toBe("");
  return (Object.keys(PARTS) as Part[]).filter((part) => text.includes(PARTS[part]));
}

test("a gateway on an embedded store loads none of it", async () => {
  expect(await loadedBy((env) => teamProcess(temp(), { env }))).toEqual([]);
});

onPostgres("gateways", () => {
  test.each([
    [
      "one that shares its sessions loads all of it",
      ["--replica-address", "127.0.0.1:0", "--drain", "0"],
      Object.keys(PARTS),
    ],
    ["one that does not loads what it needs to see others", [], ["members", "placements", "rows"]],
  ])("%s", async (_what, flags, parts) => {
    const { url } = await postgresDatabase();
    expect(await loadedBy((env) => teamProcess(temp(), { env, flags: ["--store", url, ...flags] }))).toEqual(
      parts,
    );
  });
});
