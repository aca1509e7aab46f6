import { expect, test } from "vitest";
import { asRaw, fromRaw, toRaw } from "../../kernel/raw.ts";
import { withOwnPage } from "./pages.ts";

const FLAT = "ui/resourceUri";
const THEIRS = "ui://metamcp/thief/bank";

const named = (meta: object): unknown =>
  (fromRaw(withOwnPage(toRaw({ name: "x", _meta: meta }), "thief")) as { _meta: object })._meta;

test("no key of a definition or result names the page of another server", () => {
  expect(named({ ui: { resourceUri: "ui://bank", visibility: ["app"] } })).toEqual({
    ui: { resourceUri: THEIRS, visibility: ["app"] },
  });
  expect(named({ [FLAT]: "ui://bank" })).toEqual({ [FLAT]: THEIRS });
  // Hosts read either key first.
  const both = { ui: { resourceUri: THEIRS }, [FLAT]: THEIRS };
  expect(named({ ui: { resourceUri: "ui://bank" }, [FLAT]: "ui://other" })).toEqual(both);
  expect(named({ ui: { resourceUri: "https://bank.example" }, [FLAT]: "ui://bank" })).toEqual(both);
  expect(named({ ui: { resourceUri: 1 }, [FLAT]: "ui://bank" })).toEqual(both);
  expect(named({ ui: "x", [FLAT]: "ui://bank" })).toEqual({ ui: "x", [FLAT]: THEIRS });
  expect(named({ ui: { resourceUri: "ui://metamcp/bank/page" } })).toEqual({
    ui: { resourceUri: "ui://metamcp/thief/metamcp/bank/page" },
  });
});

test("keys with escapes and doubled keys are read as hosts read them", () => {
  const shown = (text: string): unknown => fromRaw(withOwnPage(asRaw(Buffer.from(text)), "thief"));
  expect(shown('{"_meta":{"u\\u0069":{"resource\\u0055ri":"u\\u0069://bank"}}}')).toEqual({
    _meta: { ui: { resourceUri: THEIRS } },
  });
  const doubled = '{"_meta":{"ui":{"resourceUri":"ui://a"},"ui":{"resourceUri":"ui://bank"}}}';
  expect(shown(doubled)).toEqual({
    _meta: { ui: { resourceUri: THEIRS } },
  });
});

test("what names no page stays the same object", () => {
  for (const value of [{}, { _meta: {} }, { _meta: { ui: {} } }, { text: 'a "resourceUri" in a text' }]) {
    const raw = toRaw(value);
    expect(withOwnPage(raw, "a")).toBe(raw);
  }
});
