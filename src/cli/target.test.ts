import { expect, test } from "vitest";
import { galleryCandidates } from "../provision/gallery/gallery.ts";
import { entryTarget } from "./target.ts";

const SECRET = "hush7f3d9b";
const shown = (...args: string[]): string =>
  entryTarget({ command: "x", args, env: { A_TOKEN: "in-env-1" } });

test.each([
  ["a connection string", [`postgresql://user:${SECRET}@localhost/db`], "x postgresql://localhost/db"],
  ["a connection string without a user", [`redis://:${SECRET}@host:1`], "x redis://host:1"],
  ["a connection string in a flag", [`--db=mongodb+srv://a:${SECRET}@h/d?w=1`], "x --db=mongodb+srv://h/d"],
  ["a secret in the query of a connection string", [`postgres://h/d?password=${SECRET}`], "x postgres://h/d"],
  [
    "a header in one word",
    [`--header=Authorization: Bearer ${SECRET}`],
    "x '--header=Authorization: [secret]'",
  ],
  [
    "the value of a header with any name",
    ["--header", `X-Custom: ${SECRET}`],
    "x --header 'X-Custom: [secret]'",
  ],
  [
    "the value of a secret flag",
    ["--pat", SECRET, "--password", SECRET],
    "x --pat '[secret]' --password '[secret]'",
  ],
  ["the password after -p", ["-p", SECRET], "x -p '[secret]'"],
  ["JSON", [`{"apiKey":"${SECRET}"}`], "x '[secret]'"],
  ["a list of settings", [`Server=x;Password=${SECRET};`], "x '[secret]'"],
  ["a variable assignment in a shell command", ["-c", `TOKEN=${SECRET} run`], "x -c 'TOKEN=[secret]'"],
  ["a random-looking word", ["q8Zr4Tn1Vb6Ws9Xk3Lm5"], "x '[secret]'"],
  ["the value of an environment variable", ["--name=in-env-1"], "x '[secret]'"],
])("%s is not shown", (_what, args, line) => {
  expect(shown(...args)).toBe(line);
});

test("every word with the value of an environment variable that may be a secret is hidden", () => {
  const entry = { command: "x", args: [`--k=${SECRET}`, "--in=/data"], env: { K: SECRET, ROOT: "/data" } };
  expect(entryTarget(entry)).toBe("x '[secret]' --in=/data");
});

test("a secret in the command is hidden", () => {
  expect(entryTarget({ command: `TOKEN=${SECRET}` })).toBe("'TOKEN=[secret]'");
});

test("a value of an environment variable or a header is hidden in the command and in the address", () => {
  expect(entryTarget({ command: "/opt/hush-me", env: { A: "hush-me" } })).toBe("'[secret]'");
  const headers = { "X-Any": "hush-me" };
  expect(entryTarget({ url: "https://x.example/hush-me/mcp", headers })).toBe(
    "https://x.example/[secret]/mcp",
  );
});

test.each([
  [["-y", "@scope/a-server@1.2.3", "--port", "8080", "--root=/home/me/a b"]],
  [
    [
      "run",
      "-e",
      "API_KEY",
      "ghcr.io/a/b@sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9",
    ],
  ],
  [["/home/me/.nvm/v20.11.1/3f2c9a71-77aa-4c1e-9d1b-0c2f6a5d4e3b/server.js"]],
  [["--header", `Authorization: Bearer \${TOKEN}`, "--url", `\${URL}`]],
])("arguments without secrets are shown: %j", (args) => {
  for (const word of args) expect(shown(...args)).toContain(word);
});

test("nothing is hidden in the commands of the gallery", async () => {
  for (const { entry } of await galleryCandidates()) {
    expect(entryTarget({ ...entry })).not.toContain("[secret]");
  }
});
