import { describe, expect, it } from "vitest";
import { visibleParts, visibleText } from "./visible-text.ts";

describe("untrusted text", () => {
  it("keeps ordinary text of any script in one piece", () => {
    for (const text of [
      "search_issues",
      "<b>bold</b>",
      "שלום עולם",
      "日本語",
      "a\tb\r\nc",
      "👩‍👩‍👧",
      "می‌خواهم",
    ])
      expect(visibleParts(text)).toEqual([{ text }]);
    expect(visibleParts("")).toEqual([]);
  });

  it("shows control characters and characters that reverse or hide text", () => {
    expect(visibleParts("a\u202eb")).toEqual([
      { text: "a" },
      { text: "‹202E›", code: "202E" },
      { text: "b" },
    ]);
    expect(visibleText("\u0007\u001b[31m\u007f\u0085")).toBe("‹BEL›‹ESC›[31m‹DEL›‹0085›");
    expect(visibleText("\u200b\u2066x\u2069\ufeff\u{e0041}\u2028")).toBe(
      "‹200B›‹2066›x‹2069›‹FEFF›‹E0041›‹2028›",
    );
  });

  it("shows joiners between ASCII characters", () => {
    expect(visibleText("sea\u200drch")).toBe("sea‹200D›rch");
  });

  it("shows interlinear annotation characters", () => {
    expect(visibleText("a\ufff9b\ufffb")).toBe("a‹FFF9›b‹FFFB›");
  });

  it("counts marks that would pile up over other lines, and keeps those of languages", () => {
    expect(visibleText(`a${"\u0301".repeat(4)}`)).toBe(`a${"\u0301".repeat(4)}`);
    expect(visibleParts(`a${"\u0301".repeat(44)}b`)).toEqual([
      { text: `a${"\u0301".repeat(4)}` },
      { text: "‹40 × 0301›", code: "0301" },
      { text: "b" },
    ]);
    for (const text of ["Việt Nam".normalize("NFD"), "ที่นี่", "בְּרֵאשִׁ֖ית", "क्ष्म्य"])
      expect(visibleText(text)).toBe(text);
  });

  it("shows lone surrogates", () => {
    expect(visibleText("\ud800x")).toBe("‹D800›x");
  });
});
