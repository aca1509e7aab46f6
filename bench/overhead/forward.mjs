// The lower bound: forwards lines between its stdio and one child, and looks only for newlines.
// Usage: forward.mjs [--batch | --parse] COMMAND ARGS…
// --batch joins the lines of one turn of the event loop into one write; --parse parses each line as JSON and
// serializes it again.
import { spawn } from "node:child_process";

const argv = process.argv.slice(2);
const batch = argv[0] === "--batch" && argv.shift();
const parse = argv[0] === "--parse" && argv.shift();

function forward(from, to) {
  let parts = [];
  let ready = [];
  const flush = () => {
    to.write(ready.length === 1 ? ready[0] : Buffer.concat(ready));
    ready = [];
  };
  from.on("data", (chunk) => {
    let start = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, at + 1));
      const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      parts = [];
      start = at + 1;
      if (parse) to.write(`${JSON.stringify(JSON.parse(line))}\n`);
      else if (!batch) to.write(line);
      else if (ready.push(line) === 1) setImmediate(flush);
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  });
}

const child = spawn(argv[0], argv.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
child.on("exit", (code) => process.exit(code ?? 1));
forward(process.stdin, child.stdin);
forward(child.stdout, process.stdout);
process.stdin.on("end", () => child.stdin.end());
