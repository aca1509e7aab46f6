import { expect, test } from "vitest";
import { CONSOLE_PAGES } from "../src/serving/console-files.ts";
import { BARE_PAGES, hrefOf, parseAddress, SHELL_PAGES, type Target } from "./address.ts";

test("an address that was written is read as what it was", () => {
  const targets: Target[] = [
    { page: "overview", query: {} },
    { page: "servers", query: { q: "a b&c=d", state: "failed" } },
    { page: "servers", id: "0199-ü/ 1", query: { tab: "tools" } },
    { page: "invitations", id: "code", query: {} },
  ];
  for (const target of targets)
    expect(parseAddress(new URL(hrefOf(target), "http://localhost"))).toEqual(target);
});

test("what is empty is left out", () => {
  expect(hrefOf({ page: "tools", id: undefined, query: { q: "", server: undefined, on: "1" } })).toBe(
    "/tools?on=1",
  );
});

test.each(["/nothing", "/servers/a/b", "/overview", "//servers", "/Servers"])("%s is no page", (pathname) => {
  expect(parseAddress({ pathname, search: "" }).page).toBe("missing");
});

test("a broken escape stays as it is", () => {
  expect(parseAddress({ pathname: "/servers/%zz", search: "" })).toMatchObject({
    page: "servers",
    id: "%zz",
  });
});

test("the gateway serves every page at its address", () => {
  const shown = [...SHELL_PAGES, ...BARE_PAGES].map((page) => hrefOf({ page }).slice(1));
  expect([...CONSOLE_PAGES].sort()).toEqual(shown.sort());
});
