import { expect, test } from "vitest";
import { tellingLines } from "./telling-lines.ts";

const NOTICE = [
  "npm notice",
  "npm notice New minor version of npm available! 11.1 -> 11.9",
  "npm notice To update run: npm i -g npm",
];

test("npm's notices do not hide that a package does not exist", () => {
  const lines = [
    "npm warn Unknown user config",
    "npm error code E404",
    "npm error 404 Not Found - GET https://registry.npmjs.org/nosuch - Not found",
    "npm error 404",
    "npm error 404  'nosuch@*' is not in this registry.",
    "npm error 404",
    "npm error 404 Note that you can also install from a",
    "npm error 404 tarball, folder, http url, or git folder.",
    ...NOTICE,
    "npm error A complete log of this run can be found in: /home/u/.npm/_logs/x.log",
  ];
  expect(tellingLines(lines, 5)).toEqual([lines[1], lines[2], lines[4]]);
});

test("the message stays although many details follow it", () => {
  const paths = Array.from({ length: 13 }, (_, n) => `→ /srv/build/${n}/better_sqlite3.node`);
  expect(tellingLines(["Error: Could not locate the bindings file. Tried:", ...paths], 5)).toEqual([
    "Error: Could not locate the bindings file. Tried:",
    ...paths.slice(-4),
  ]);
  const dump = [
    "errno: -3008,",
    "code: 'ENOTFOUND',",
    "syscall: 'getaddrinfo',",
    "a: 1",
    "hostname: 'mcp.stripe.com'",
  ];
  expect(tellingLines(["Error: getaddrinfo ENOTFOUND mcp.stripe.com", ...dump], 5)[0]).toBe(
    "Error: getaddrinfo ENOTFOUND mcp.stripe.com",
  );
});

test("the last reason counts more than what an earlier error said", () => {
  const lines = [
    "error: cache is old",
    "error: no colour",
    ...Array.from({ length: 20 }, (_, n) => `step ${n}`),
    "ModuleNotFoundError: No module named 'x'",
    "bye",
  ];
  expect(tellingLines(lines, 5)).toEqual([lines[0], lines[1], "step 19", lines.at(-2), "bye"]);
});

test("without anything telling the last lines are shown, and notices only if there is nothing else", () => {
  expect(tellingLines(["a", "b", "c"], 2)).toEqual(["b", "c"]);
  expect(tellingLines(NOTICE, 2)).toEqual(NOTICE.slice(-2));
  expect(tellingLines([], 2)).toEqual([]);
});
