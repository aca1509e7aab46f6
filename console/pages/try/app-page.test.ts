import { expect, test } from "vitest";
import { answerToPage, pageIn } from "./app-page.ts";

const CALL = { args: { city: "Rome" }, result: { content: [] } };
const messagesFor = (message: unknown) => answerToPage(message, CALL).messages;

test("a page gets the call after it is ready, and nothing that it asks for", () => {
  expect(messagesFor({ jsonrpc: "2.0", id: 1, method: "ui/initialize" })).toMatchObject([
    { id: 1, result: { protocolVersion: "2026-01-26", hostCapabilities: {} } },
  ]);
  expect(messagesFor({ method: "ui/notifications/initialized" })).toMatchObject([
    { method: "ui/notifications/tool-input", params: { arguments: CALL.args } },
    { method: "ui/notifications/tool-result", params: CALL.result },
  ]);
  for (const method of ["tools/call", "resources/read", "ui/open-link", "ui/message", "x"])
    expect(messagesFor({ id: 2, method })).toMatchObject([{ id: 2, error: { code: -32_601 } }]);
  for (const message of [null, "x", 1, {}, { id: 3, result: {} }, { method: "notifications/message" }])
    expect(messagesFor(message)).toEqual([]);
});

test("a page has the height that it asks for, within limits", () => {
  const heightFor = (height: unknown) =>
    answerToPage({ method: "ui/notifications/size-changed", params: { height } }, CALL).height;
  expect([300, 1, 1e9, -5, "x", Number.NaN].map(heightFor)).toEqual([300, 80, 800, 80, undefined, undefined]);
});

test("the page of a tool is in either key", () => {
  expect(pageIn({ _meta: { ui: { resourceUri: "ui://a" } } })).toBe("ui://a");
  expect(pageIn({ _meta: { "ui/resourceUri": "ui://b" } })).toBe("ui://b");
  for (const other of [undefined, {}, { _meta: { ui: { resourceUri: "https://x" } } }, { _meta: { ui: 1 } }])
    expect(pageIn(other)).toBeUndefined();
});
