import { expect, test } from "vitest";
import { hintFor } from "./hint.ts";

test.each([
  ["TypeError: not a function (line 1)", "```js", "```js\nreturn 1\n```", /fence/],
  ["SyntaxError: Unexpected identifier 'fs' (line 1)", 'import fs from "fs"', "", /only globals and `tools`/],
  ["SyntaxError: unsupported keyword: export (line 1)", "export default 1", "", /only globals and `tools`/],
  ["ReferenceError: could not load module 'node:fs'", "", "", /only globals and `tools`/],
  ["ReferenceError: require is not defined (line 2)", 'require("fs")', "", /only globals and `tools`/],
  ["ReferenceError: fetch is not defined (line 1)", "await fetch(u)", "", /no network/],
  ["ReferenceError: mcp_call is not defined (line 1)", "mcp_call({})", "", /tools\.server\.tool/],
  ["ReferenceError: callTool is not defined (line 1)", "callTool()", "", /tools\.server\.tool/],
  ["TypeError: not a function (line 1)", "await tools.get_sum({ a: 1 })", "", /tools\.server\.tool/],
  ["TypeError: not a function (line 1)", 'await tools["a:b"]({})', "", /tools\.server\.tool/],
  ["SyntaxError: unexpected token in expression: '@' (line 2)", "@dec", "", /Decorators are not/],
  ["SyntaxError: invalid property name (line 1)", "class A { @dec foo() {} }", "", /Decorators are not/],
  ["ReferenceError: X is not defined (line 2)", "X.a", "namespace X {}\nX.a", /namespaces are not/],
  ["ReferenceError: X is not defined (line 2)", "X.a", "export namespace X {}\nX.a", /namespaces are not/],
])("hintFor returns a hint for %s", (message, source, code, hint) => {
  expect(hintFor({ message, source }, code)).toMatch(hint);
});

test.each([
  ["ReferenceError: total is not defined (line 1)", "total + 1"],
  ["TypeError: not a function (line 1)", "(await tools.a.list()).nope()"],
  ["TypeError: cannot read property 'x' of null (line 1)", "const fetch = null; fetch.x"],
  ["SyntaxError: unexpected token in expression: '*' (line 1)", "important +* 2"],
  ["SyntaxError: invalid (line 1)", 'send("me@example.com"'],
  ["ToolError: fetch is not defined", "await tools.web.fetch({})"],
])("hintFor returns no hint for %s", (message, source) => {
  expect(hintFor({ message, source }, source)).toBeUndefined();
});
