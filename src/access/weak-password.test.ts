import { expect, test } from "vitest";
import { weaknessOf } from "./weak-password.ts";

test.each([
  "1234567890",
  "0987654321",
  "aaaaaaaaaaaa",
  "abababababab",
  "12121212121",
  "abcdefghij",
  "qwertyuiop",
  "QWERTZuiop1",
  "1qaz2wsx3edc",
  "abcd123456",
  "asdfghjkl;'",
  "Password123!",
  "P@ssw0rd2024",
  "adminadmin1",
  "metamcp-admin",
  "Welcome2026!",
  "bobby.tables1",
  "changeme!!",
])("%s is refused", (password) => {
  expect(weaknessOf(password, "bobby.tables@example.org")).toMatch(/^is too easy to guess: /);
});

test.each([
  "correct horse battery",
  "another password",
  "canary-password-of-ada",
  "8439201573",
  "tr0ub4dor&3",
  "kX9#mQ2$vL",
  "ein guter satz 1234",
  "пароль-из-слов",
])("%s is accepted", (password) => {
  expect(weaknessOf(password, "bobby.tables@example.org")).toBeUndefined();
});

test("a long password is judged by what remains of it", () => {
  expect(weaknessOf(`${"abcdx".repeat(200)}yz`, "a@example.org")).toBeUndefined();
});
