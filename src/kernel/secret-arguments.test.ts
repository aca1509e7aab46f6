import { expect, test } from "vitest";
import { replaceInArgument } from "./secret-arguments.ts";

const shown = (text: string, previous?: string): string => replaceInArgument(text, previous, () => "***");

test.each([
  ["--api-key=rk_test_abc", undefined, "--api-key=***"],
  ["--apiKey=abc", undefined, "--apiKey=***"],
  ["API_TOKEN=abc", "-e", "API_TOKEN=***"],
  ["abc", "--token", "***"],
  ["abc def", "--password", "***"],
  ["Authorization: Bearer abc", "--header", "Authorization: ***"],
  ["X-Api-Key:abc", "-H", "X-Api-Key:***"],
  [
    "postgres://user:hunter2@db:5432/app?sslmode=require",
    undefined,
    "postgres://user:***@db:5432/app?sslmode=require",
  ],
  ["Server=db;Password=hunter2;Timeout=5", undefined, "Server=db;Password=***;Timeout=5"],
  ["https://x.example/mcp?api_key=hunter2&org=acme", undefined, "https://x.example/mcp?api_key=***&org=acme"],
  ["ghp_0123456789abcdef", undefined, "***"],
])("%j after %j is shown as %j", (text, previous, expected) => {
  expect(shown(text, previous)).toBe(expected);
});

test.each([
  ["-y", undefined],
  ["@modelcontextprotocol/server-memory@2025.1.14", "-y"],
  ["--api-key-file=/run/key", undefined],
  ["/run/key", "--token-file"],
  ["value", "--no-auth"],
  ["--verbose", "--token"],
  ["--api-key=${KEY}", undefined],
  ["${secret:KEY}", "--token"],
  ["Authorization: Bearer ${KEY}", "--header"],
  ["https://x.example/mcp?org=acme&token=${secret:KEY}", undefined],
  ["postgres://user:${PASSWORD}@db/app", undefined],
  ["/data/projects/0f8fad5b-d9cb-469f-a165-70867728950e", undefined],
])("%j after %j stays readable", (text, previous) => {
  expect(shown(text, previous)).toBe(text);
});
