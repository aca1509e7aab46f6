#!/usr/bin/env node
// The server behind the measured replicas. Notes each start, call and end in a file, one JSON line each and
// before it answers, so that calls that ran twice or at once and processes that were left can be counted.
// Usage: child.mjs JOURNAL
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , journal] = process.argv;
const note = (event) =>
  appendFileSync(journal, `${JSON.stringify({ pid: process.pid, at: Date.now(), ...event })}\n`);
const inputSchema = {
  type: "object",
  properties: { key: { type: "string" }, ms: { type: "number" } },
  required: ["key"],
};
const tools = [
  { name: "write", description: "Writes a key.", inputSchema },
  { name: "read", description: "Reads a key.", inputSchema, annotations: { readOnlyHint: true } },
];

function answer({ method, params }) {
  if (method === "initialize")
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "journal", version: "1" },
    };
  if (method === "tools/list") return { tools };
  if (method !== "tools/call") return {};
  const { key, ms = 0 } = params.arguments;
  note({ key });
  const result = { content: [{ type: "text", text: `done ${key}` }] };
  if (ms === 0) return result;
  return new Promise((resolve) =>
    setTimeout(() => {
      note({ done: key });
      resolve(result);
    }, ms),
  );
}

note({ event: "start" });
createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined || message.method === undefined) return;
  const result = await answer(message);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, result })}\n`);
});
process.stdin.on("end", () => {
  note({ event: "end" });
  process.exit();
});
