import { expect, test } from "vitest";
import { isOnThisMachine } from "./client-metadata.ts";

test.each([
  "http://127.0.0.1:1/callback",
  "https://localhost/callback",
  "https://LOCALHOST.:8443/callback",
  "https://app.localhost/callback",
  "https://127.9.9.9/callback",
  "https://2130706433/callback",
  "https://0.0.0.0/callback",
  "https://[::1]/callback",
  "https://[::ffff:127.0.0.1]/callback",
  "com.example.app:/callback",
  "not a URL",
])("%s leads to a program on the user's machine", (uri) => {
  expect(isOnThisMachine(uri)).toBe(true);
});

test.each([
  "https://client.test/callback",
  "https://localhost.client.test/",
  "https://127.0.0.1.client.test/",
])("%s leads to a host", (uri) => {
  expect(isOnThisMachine(uri)).toBe(false);
});
