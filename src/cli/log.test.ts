import { execFileSync } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../test/support/until.ts";
import { createLog } from "./log.ts";

test("the log drops lines while nobody reads it, and reports how many", async () => {
  const folder = await mkdtemp(join(tmpdir(), "metamcp-log-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  const log = createLog({ level: "info", file: path });
  for (let line = 0; line < 4_000; line++) log.info("x".repeat(1_000));
  const reader = createReadStream(path);
  onTestFinished(() => void reader.destroy());
  let text = "";
  reader.on("data", (chunk) => (text += chunk.toString()));
  await until(() => {
    log.info("y");
    return /[1-9]\d{3} lines of this log were dropped/.test(text);
  });
  expect(text.length).toBeGreaterThan(1024 * 1024);
  expect(text.length).toBeLessThan(2 * 1024 * 1024);
});
