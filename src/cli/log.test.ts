import { execFileSync } from "node:child_process";
import { createReadStream, existsSync, readFileSync, renameSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../test/support/until.ts";
import { asText, createLog } from "./log.ts";

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

test("texts of servers cannot act on a terminal that shows the log, or look like a line of it", async () => {
  const hostile = "tool \u001b[2J\u009b31m\u202e\u2028 \u{e0041}\nmetamcp error: forged";
  const folder = await mkdtemp(join(tmpdir(), "metamcp-log-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "log");
  createLog({ level: "info", file }).warn(hostile, { server: hostile });
  await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
  const line = readFileSync(file, "utf8").trimEnd();
  expect(line).not.toMatch(/\p{C}|\p{Zl}/u);
  expect(JSON.parse(line)).toMatchObject({ level: "warn", message: hostile, server: hostile });

  const text = asText("warn", hostile, undefined);
  expect(text).not.toMatch(/[^\P{C}\n]|\p{Zl}/u);
  expect(text.split("\n").filter((one) => one.startsWith("metamcp"))).toHaveLength(1);
});

test("the log follows its name when the file is renamed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "metamcp-log-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "log");
  const log = createLog({ level: "info", file: path });
  log.info("first");
  await until(() => existsSync(path) && readFileSync(path, "utf8").includes("first"));
  renameSync(path, `${path}.1`);
  await until(() => {
    log.info("second");
    return existsSync(path) && readFileSync(path, "utf8").includes("second");
  });
  expect(readFileSync(`${path}.1`, "utf8")).toContain("first");
  expect(readFileSync(path, "utf8")).not.toContain("first");
});
