import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { expect, onTestFinished, test } from "vitest";
import { temp } from "../../../test/support/temp.ts";
import { until } from "../../../test/support/until.ts";
import { type Base, readBase } from "./base.ts";
import { mirrorPath, readMirror } from "./mirror.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const BASE = readBase({ url: "https://registry.example/some/path" }) as Base;
const SERVERS = 3_000;

/** Writes mirrors in an endless loop, each with the number of its round in every line. */
const WORKER = `
import { readBase } from "./base.ts";
import { writeMirror } from "./mirror.ts";
const path = process.argv[2];
const base = readBase({ url: "https://registry.example/some/path" });
for (let round = 0; ; round++) {
  const servers = new Map(Array.from({ length: ${SERVERS} }, (_, at) => {
    const name = "io.github.acme/s" + at;
    return [name, { name, description: "round " + round + " " + "x".repeat(200), version: "1.0.0" }];
  }));
  await writeMirror(path, base, { head: { since: "2026-01-01T00:00:00.000Z", checkedAt: round }, servers });
  if (round === 0) process.stdout.write("written");
}
`;

async function worker(folder: string): Promise<string> {
  const file = join(folder, "worker.mjs");
  const source = join(HERE, "worker.mts");
  await build({
    input: "worker",
    platform: "node",
    plugins: [
      {
        name: "source",
        resolveId: (id: string) => (id === "worker" ? source : null),
        load: (id: string) => (id === source ? WORKER : null),
      },
    ],
    output: { file, format: "esm" },
    logLevel: "silent",
  });
  return file;
}

const temporary = async (path: string): Promise<string[]> =>
  (await readdir(dirname(path))).filter((name) => name.endsWith(".tmp"));

test("a process that is killed during a write always leaves one complete mirror", {
  timeout: 120_000,
}, async () => {
  const { folder, home } = temp();
  const script = await worker(folder);
  const path = mirrorPath(home, BASE);
  let child: ChildProcess | undefined;
  onTestFinished(() => void child?.kill("SIGKILL"));
  let interrupted = 0;
  for (let round = 0; round < 8; round++) {
    child = spawn(process.execPath, [script, path], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout as NodeJS.EventEmitter, "data");
    // A temporary file means that a write is running.
    await until(async () => (await temporary(path)).length > 0);
    child.kill("SIGKILL");
    await once(child, "exit");
    const left = await temporary(path);
    interrupted += left.length;
    // The file that the previous process left is gone.
    expect(left.length).toBeLessThan(2);

    const mirror = await readMirror(path, BASE);
    expect(mirror?.servers.size).toBe(SERVERS);
    const rounds = new Set(
      [...(mirror?.servers.values() ?? [])].map(({ description }) => description.split(" ")[1]),
    );
    expect([...rounds]).toEqual([String(mirror?.head.checkedAt)]);
  }
  // Otherwise no write was ever interrupted.
  expect(interrupted).toBeGreaterThan(0);
});

test("each registry has its own file, and a path in the URL cannot leave the folder", () => {
  const paths = [
    "https://a.example",
    "https://a.example/b",
    "http://a.example:8080",
    "https://a.example/../../x",
    "https://a.example/b/c",
  ].map((url) => mirrorPath("/home", readBase({ url: url }) as Base));
  expect(new Set(paths).size).toBe(paths.length);
  for (const path of paths) expect(path).toMatch(/^\/home\/registry\/[\w.~-]+\.jsonl$/);
});
