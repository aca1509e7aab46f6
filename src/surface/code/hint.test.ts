import { expect, test } from "vitest";
import { hintFor } from "./hint.ts";

test.each([
  ["TypeError: not a function (line 1)", "```js", "```js\nreturn 1\n```", /fence/],
  ["SyntaxError: Unexpected identifier 'fs' (line 1)", 'import fs from "fs"', "", /no modules/],
  ["SyntaxError: unsupported keyword: export (line 1)", "export default 1", "", /no modules/],
  ["ReferenceError: could not load module 'node:fs'", "", "", /no modules/],
  ["ReferenceError: require is not defined (line 2)", 'require("fs")', "", /no modules/],
  ["ReferenceError: fetch is not defined (line 1)", "await fetch(u)", "", /no network/],
  ["ReferenceError: mcp_call is not defined (line 1)", "mcp_call({})", "", /tools\.server\.tool/],
  ["ReferenceError: callTool is not defined (line 1)", "callTool()", "", /tools\.server\.tool/],
  ["TypeError: not a function (line 1)", "await tools.get_sum({ a: 1 })", "", /tools\.server\.tool/],
  ["TypeError: not a function (line 1)", 'await tools["a:b"]({})', "", /tools\.server\.tool/],
])("%s gets a hint", (message, source, code, hint) => {
  expect(hintFor({ message, source }, code)).toMatch(hint);
});

test.each([
  ["ReferenceError: total is not defined (line 1)", "total + 1"],
  ["TypeError: not a function (line 1)", "(await tools.a.list()).nope()"],
  ["TypeError: cannot read property 'x' of null (line 1)", "const fetch = null; fetch.x"],
  ["SyntaxError: unexpected token in expression: '*' (line 1)", "important +* 2"],
  ["ToolError: fetch is not defined", "await tools.web.fetch({})"],
])("%s needs none", (message, source) => {
  expect(hintFor({ message, source }, source)).toBeUndefined();
});
