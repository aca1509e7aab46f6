// Builds the image for METAMCP_RUNTIME_BACKEND=docker. It contains only Node and the sandbox host.
//
// The base image is a tag, which its publisher may change. To pin it, pull and check the image, and give its
// digest instead:
//   docker pull node:22-slim
//   docker image inspect --format '{{index .RepoDigests 0}}' node:22-slim
//   node scripts/sandbox-image.mjs node@sha256:…
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleSandbox } from "./build-sandbox.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const IMAGE = "metamcp-sandbox:1";
const base = process.argv[2] ?? "node:22-slim";
if (!/^[\w./:-]+(?:@sha256:[0-9a-f]{64})?$/.test(base)) {
  process.stderr.write("usage: node scripts/sandbox-image.mjs [NAME[:TAG][@sha256:DIGEST]]\n");
  process.exit(2);
}
const recipe = `FROM ${base}\nCOPY . /sandbox/\nRUN echo '{"type":"module"}' > /sandbox/package.json\nUSER 65534:65534\n`;

await bundleSandbox();
const { status } = spawnSync("docker", ["build", "-t", IMAGE, "-f", "-", join(root, "dist/sandbox")], {
  input: recipe,
  stdio: ["pipe", "inherit", "inherit"],
});
process.exitCode = status ?? 1;
