/** The audit log as a file: on a full disk it contains only complete records, each once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { ROOT, temp } from "../../support/temp.ts";

const PROGRAM = `
import { auditFile } from "./audit-file.mjs";
const write = auditFile("audit.jsonl");
const batch = (tool, count) => Array.from({ length: count }, () => ({ at: 0, body: JSON.stringify({ tool }) }));
for (const [tool, count] of [["first", 3], ["many", 1_000], ["many", 1_000], ["last", 2]])
  console.log(await write(batch(tool, count)).catch((error) => error.code));
`;

test("a partly written batch is removed from the file, and later batches are written completely", async () => {
  const folder = temp();
  const source = readFileSync(join(ROOT, "src/observe/audit/audit-file.ts"), "utf8");
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  });
  writeFileSync(folder.path("audit-file.mjs"), outputText);
  writeFileSync(folder.path("main.mjs"), PROGRAM);
  // A file size limit of 8 blocks makes a write fail in the middle, as on a full disk.
  const command = `trap "" XFSZ; ulimit -f 8; exec "${process.execPath}" main.mjs`;
  const child = spawn("sh", ["-c", command], { cwd: folder.path("."), stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk));
  await once(child, "close");

  expect(output.trim().split("\n")).toEqual(["0", "EFBIG", "EFBIG", "0"]);
  const lines = readFileSync(folder.path("audit.jsonl"), "utf8").trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).tool)).toEqual(["first", "first", "first", "last", "last"]);
});
