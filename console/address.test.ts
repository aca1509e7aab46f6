import { expect, test } from "vitest";
import { hrefOf, parseAddress, type Target } from "./address.ts";

test("parseAddress returns the target that hrefOf was given", () => {
  const targets: Target[] = [
    { page: "overview", query: {} },
    { page: "servers", query: { q: "a b&c=d", state: "failed" } },
    { page: "servers", id: "0199-ü/ 1", query: { tab: "tools" } },
    { page: "invitations", id: "code", query: {} },
  ];
  for (const target of targets)
    expect(parseAddress(new URL(hrefOf(target), "http://localhost"))).toEqual(target);
});

test("hrefOf omits empty and undefined values", () => {
  expect(hrefOf({ page: "tools", id: undefined, query: { q: "", server: undefined, on: "1" } })).toBe(
    "/tools?on=1",
  );
});

test.each(["/nothing", "/servers/a/b", "/overview", "//servers", "/Servers"])(
  "%s is not a page",
  (pathname) => {
    expect(parseAddress({ pathname, search: "" }).page).toBe("missing");
  },
);

test("an invalid percent escape is kept as it is", () => {
  expect(parseAddress({ pathname: "/servers/%zz", search: "" })).toMatchObject({
    page: "servers",
    id: "%zz",
  });
});
