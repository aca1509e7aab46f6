import { expect, test } from "vitest";
import { checkServer } from "./server.ts";

const HERE = { path: "/p/.mcp.json", folder: "/p", env: {} };

function problemsOf(entry: unknown, name = "a") {
  const { result } = checkServer(name, entry, HERE);
  return result !== "disabled" && "problems" in result ? result : undefined;
}

test.each<[string, unknown, string]>([
  ["a value of the wrong type", { command: 5 }, "/command"],
  ["an item of a list", { command: "x", args: ["a", 1] }, "/args/1"],
  ["a member whose name has a slash and a dot", { command: "x", env: { "a/b.c": 1 } }, "/env/a~1b.c"],
  ["a header", { url: "https://e.example", headers: { X: "a\nb" } }, "/headers/X"],
  ["an address", { url: "nowhere" }, "/url"],
  ["a rule for tools", { command: "x", tools: { deny: "*" } }, "/tools/deny"],
  ["an unknown rule for tools", { command: "x", tools: { denied: [] } }, "/tools/denied"],
  ["a misspelt security key", { command: "x", isolaton: "session" }, "/isolaton"],
  ["an invalid choice", { command: "x", retry: "always" }, "/retry"],
  ["a missing variable", { command: "x", env: { A: "${NOT_SET}" } }, "/env/A"],
  ["a layer without a name", { command: "x", middleware: [{ use: "cache" }, {}] }, "/middleware/1"],
  ["a type that does not fit", { command: "x", type: "sse" }, "/type"],
  ["an entry without command and url", {}, ""],
  ["an entry that is not an object", [], ""],
])("the problem of %s has its place", (_what, entry, path) => {
  expect(problemsOf(entry)?.problems.map((problem) => problem.path)).toEqual([path]);
});

test("the problem of a name has its place", () => {
  expect(problemsOf({ command: "x" }, "metamcp")?.problems).toMatchObject([{ path: "/name" }]);
});

test("the reason contains all problems", () => {
  const found = problemsOf({ command: "x", args: "y", inheritEnv: 3 });
  expect(found?.problems).toHaveLength(2);
  expect(found?.reason).toBe(found?.problems.map(({ message }) => message).join("; "));
});
