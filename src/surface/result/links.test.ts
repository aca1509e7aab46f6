import { expect, test } from "vitest";
import { toRaw } from "../../kernel/raw.ts";
import { Links } from "./links.ts";

test("serverOf returns the server whose result contained the URI, only for the caller that got the result", () => {
  const links = new Links();
  const content = [
    { type: "text", text: '"uri": "text://no-link"' },
    { type: "resource_link", uri: "demo://1", name: "one" },
    { type: "resource", resource: { uri: "demo://2", text: "two" } },
    { type: "resource_link", uri: 5, name: "broken" },
  ];
  links.noteAll("me", "a", toRaw({ content }));
  expect(["demo://1", "demo://2", "text://no-link"].map((uri) => links.serverOf("me", uri))).toEqual([
    "a",
    "a",
    undefined,
  ]);
  expect(links.serverOf("you", "demo://1")).toBeUndefined();
  links.noteAll("me", "b", toRaw({ content }));
  expect(links.serverOf("me", "demo://1")).toBe("b");
  links.note("you", "a", "demo://1");
  links.forget("me");
  expect([links.serverOf("me", "demo://1"), links.serverOf("you", "demo://1")]).toEqual([undefined, "a"]);
});

test("only the last 10,000 links are kept", () => {
  const links = new Links();
  for (let n = 0; n < 10_010; n++) links.note("me", "a", `demo://${n}`);
  expect([9, 10, 10_009].map((n) => links.serverOf("me", `demo://${n}`))).toEqual([undefined, "a", "a"]);
});
