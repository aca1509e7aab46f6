import { expect, test } from "vitest";
import { Collection } from "./collection.ts";
import { hashOf, KeyTable } from "./key-table.ts";
import { KnownNames, nameKey } from "./known-names.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";
import { tool } from "./tool.fixture.ts";

/** Which share of the tools of one server has a known name. */
function shareOf(known: readonly string[], server: string, names: readonly string[]): number {
  const collection = new Collection(DEFAULT_SETTINGS);
  const tools = names.map((name) => tool(server, name));
  for (const _ of collection.replace({ server, tools, text: {} }));
  const slots = names.map((_, slot) => slot);
  const keys = new KeyTable(Uint32Array.from(known, (name) => hashOf(nameKey(name))).sort());
  return new KnownNames(keys).shareOf(slots, collection);
}

test("names are the same in any order, number and spelling", () => {
  expect(nameKey("list_pull_requests")).toBe(nameKey("pullRequestList"));
  expect(nameKey("get_weather_2")).toBe(nameKey("get weather"));
  expect(nameKey("get_weather")).not.toBe(nameKey("set_weather"));
});

test("the share of known names counts names with and without the server's name", () => {
  const known = ["post message", "list channels"];
  expect(shareOf(known, "slack", ["slack_post_message", "list_channels"])).toBe(1);
  expect(shareOf(known, "slack", ["post_message", "slack_frobnicate"])).toBe(0.5);
  expect(shareOf(known, "chat", ["slack_post_message"])).toBe(0);
  expect(shareOf(known, "slack", [])).toBe(0);
});

test("a tool whose name has only words of its server's name is not known by that", () => {
  // "help" has only a stop word, so its key is as empty as what is left of the tool's name.
  expect(shareOf(["post message", "help"], "slack", ["slack"])).toBe(0);
});
