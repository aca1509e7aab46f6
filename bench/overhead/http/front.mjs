// The lower bound over HTTP: each POST becomes one line to a child, and its answer one write with a
// content-length. Has no sessions and checks nothing.
// Usage: front.mjs COMMAND ARGS…   prints its URL. Ids must be unique over all clients.
import { spawn } from "node:child_process";
import { createServer } from "node:http";

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
child.on("exit", (code) => process.exit(code ?? 1));
const waiting = new Map();
let lines = [];

const idOf = (line) => {
  const from = line.indexOf('"id":') + 5;
  return line.latin1Slice(from, line.indexOf(line.includes(",", from) ? "," : "}", from));
};

function flush() {
  child.stdin.write(Buffer.concat(lines));
  lines = [];
}

let parts = [];
child.stdout.on("data", (chunk) => {
  let start = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, start)) {
    parts.push(chunk.subarray(start, at));
    const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    parts = [];
    start = at + 1;
    const id = idOf(line);
    const response = waiting.get(id);
    waiting.delete(id);
    response?.writeHead(200, { "content-type": "application/json", "content-length": line.length }).end(line);
  }
  if (start < chunk.length) parts.push(chunk.subarray(start));
});

const NEWLINE = Buffer.from("\n");
const server = createServer((request, response) => {
  const body = [];
  request.on("data", (part) => body.push(part));
  request.on("end", () => {
    const line = body.length === 1 ? body[0] : Buffer.concat(body);
    if (line.includes('"id":')) waiting.set(idOf(line), response);
    else response.writeHead(202).end();
    if (lines.push(line, NEWLINE) === 2) setImmediate(flush);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
