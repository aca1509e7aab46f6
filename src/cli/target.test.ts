import { expect, test } from "vitest";
import { galleryCandidates } from "../provision/gallery/gallery.ts";
import { entryTarget } from "./target.ts";

const SECRET = "hush7f3d9b";
const shown = (...args: string[]): string =>
  entryTarget({ command: "x", args, env: { A_TOKEN: "in-env-1" } });

test.each([
  ["a connection string", [`postgresql://user:${SECRET}@localhost/db`], "x postgresql://localhost/db"],
  ["one without a user", [`redis://:${SECRET}@host:1`], "x redis://host:1"],
  ["one behind a flag", [`--db=mongodb+srv://a:${SECRET}@h/d?w=1`], "x --db=mongodb+srv://h/d"],
  ["one with a secret in its query", [`postgres://h/d?password=${SECRET}`], "x postgres://h/d"],
  [
    "a header in one word",
    [`--header=Authorization: Bearer ${SECRET}`],
    "x '--header=Authorization: [secret]'",
  ],
  ["a header of any name", ["--header", `X-Custom: ${SECRET}`], "x --header 'X-Custom: [secret]'"],
  [
    "a flag that asks for one",
    ["--pat", SECRET, "--password", SECRET],
    "x --pat '[secret]' --password '[secret]'",
  ],
  ["a password behind a letter", ["-p", SECRET], "x -p '[secret]'"],
  ["JSON", [`{"apiKey":"${SECRET}"}`], "x '[secret]'"],
  ["a list of settings", [`Server=x;Password=${SECRET};`], "x '[secret]'"],
  ["a shell's variable", ["-c", `TOKEN=${SECRET} run`], "x -c 'TOKEN=[secret]'"],
  ["what looks random", ["q8Zr4Tn1Vb6Ws9Xk3Lm5"], "x '[secret]'"],
  ["the value of a variable", ["--name=in-env-1"], "x '[secret]'"],
])("%s is not shown", (_what, args, line) => {
  expect(shown(...args)).toBe(line);
});

test("the value of a variable that could be a secret hides every word it is in", () => {
  const entry = { command: "x", args: [`--k=${SECRET}`, "--in=/data"], env: { K: SECRET, ROOT: "/data" } };
  expect(entryTarget(entry)).toBe("x '[secret]' --in=/data");
});

test("a command that holds a secret is not shown either", () => {
  expect(entryTarget({ command: `TOKEN=${SECRET}` })).toBe("'TOKEN=[secret]'");
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
])("what is no secret is: %j", (args) => {
  for (const word of args) expect(shown(...args)).toContain(word);
});

test("every server of the gallery is shown whole", async () => {
  for (const { entry } of await galleryCandidates()) {
    expect(entryTarget({ ...entry })).not.toContain("[secret]");
  }
});
