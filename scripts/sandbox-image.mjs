// Builds the image that METAMCP_RUNTIME_BACKEND=docker runs code in: node and the sandbox host, nothing else.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleSandbox } from "./build-sandbox.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const IMAGE = "metamcp-sandbox:1";
const base = process.argv[2] ?? "node:22-slim";
const recipe = `FROM ${base}\nCOPY . /sandbox/\nRUN echo '{"type":"module"}' > /sandbox/package.json\nUSER 65534:65534\n`;

await bundleSandbox();
const { status } = spawnSync("docker", ["build", "-t", IMAGE, "-f", "-", join(root, "dist/sandbox")], {
  input: recipe,
  stdio: ["pipe", "inherit", "inherit"],
});
process.exitCode = status ?? 1;
