/** Which servers can be listed as packages, and what others run who read such an entry. */
import { expect, test } from "vitest";
import { readListed } from "../provision/registry/listed.ts";
import { toCandidate } from "../provision/registry/to-candidate.ts";
import type { Specs, StoredObject } from "./objects.ts";
import { packageEntry } from "./registry-entries.ts";
import { packageOf } from "./registry-packages.ts";

const AT = "2026-01-02T03:04:05.000Z";
const MACHINE = { has: () => true, plain: false, checked: false };
const DIGEST = `sha256:${"a".repeat(64)}`;

const specOf = (spec: object) => spec as Specs["server"];

function entryOf(spec: object) {
  const object = { kind: "server", name: "Files.1", revision: 7, createdAt: AT, updatedAt: AT, spec };
  return packageEntry(object as unknown as StoredObject<"server">, {
    base: "https://mcp.example.org",
    listedAt: AT,
  });
}

test.each([
  [{ command: "npx", args: ["-y", "@scope/files@1.2.3", "--root", "."] }],
  [{ command: "npx", args: ["-y", "files@1.2.3-beta.1"], env: { TOKEN: { sealed: "x" } } }],
  [{ command: "uvx", args: ["mcp-files@2.0.1"] }],
  [{ command: "docker", args: ["run", "-i", "--rm", "-e", "TOKEN", "ghcr.io/a/files:1.2"] }],
  [{ command: "docker", args: ["run", "-i", "--rm", `localhost:5000/files@${DIGEST}`] }],
])("others run the same release: %j", (spec) => {
  const entry = entryOf(spec);
  expect(entry?.server).toMatchObject({ name: "org.example.mcp.servers/Files.1", version: "1.0.7" });
  expect(entry?.server.remotes).toBeUndefined();
  const listed = readListed(entry);
  if (!listed || !("server" in listed)) throw new Error(JSON.stringify(entry));
  const candidate = toCandidate(listed.server, MACHINE);
  expect(candidate).toMatchObject({ entry: { command: spec.command, args: spec.args } });
});

test("values of variables are not in the entry, their names are", () => {
  const env = { API_TOKEN: { sealed: "sealed text" }, REGION: "${REGION:-north}" };
  const entry = entryOf({ command: "npx", args: ["-y", "files@1.2.3"], env });
  expect(entry?.server.packages?.[0]?.environmentVariables).toEqual([
    { name: "API_TOKEN", isRequired: true, isSecret: true },
    { name: "REGION", isRequired: true, isSecret: true },
  ]);
  expect(JSON.stringify(entry)).not.toMatch(/sealed|north/);
});

test.each([
  ["another program", { command: "node", args: ["server.mjs"] }, /npx, uvx or docker/],
  ["a program at a path", { command: "/opt/bin/npx", args: ["-y", "files@1.2.3"] }, /npx, uvx or docker/],
  ["a remote server", { url: "https://files.example" }, /npx, uvx or docker/],
  ["no version", { command: "npx", args: ["-y", "files"] }, /one release.*name@1\.2\.3/],
  ["a tag", { command: "npx", args: ["-y", "files@latest"] }, /one release/],
  ["a range", { command: "npx", args: ["-y", "files@^1.2.3"] }, /one release/],
  ["another source", { command: "npx", args: ["-y", "files@npm:other@1.2.3"] }, /one release/],
  ["a path", { command: "npx", args: ["-y", "../files@1.2.3"] }, /one release/],
  [
    "another option",
    { command: "npx", args: ["--registry", "https://x.example", "files@1.2.3"] },
    /one release/,
  ],
  ["a newest image", { command: "docker", args: ["run", "-i", "files:latest"] }, /one release/],
  ["a volume", { command: "docker", args: ["run", "-v", "/home:/home", "files:1"] }, /one release/],
  ["a value", { command: "docker", args: ["run", "-e", "TOKEN=word", "files:1"] }, /secret|one release/],
  ["a secret", { command: "npx", args: ["-y", "files@1.2.3", { sealed: "x", shown: "***" }] }, /secret/],
  ["an old secret", { command: "npx", args: ["-y", "files@1.2.3", "--api-key=word1word2"] }, /secret/],
  ["a variable", { command: "npx", args: ["-y", "files@1.2.3", "${HOME}"] }, /variable/],
  ["a secret elsewhere", { command: "npx", args: ["-y", "files@1.2.3", "${vault:a#b}"] }, /variable/],
  ["a placeholder", { command: "npx", args: ["-y", "files@1.2.3", "{root}"] }, /brace/],
  ["other code", { command: "npx", args: ["-y", "a@1.2.3"], env: { NODE_OPTIONS: "x" } }, /NODE_OPTIONS/],
])("%s cannot be listed", (_what, spec, says) => {
  expect(packageOf(specOf(spec))).toMatch(says);
  expect(entryOf(spec)).toBeUndefined();
});
