import { expect, test } from "vitest";
import { toRaw } from "../kernel/raw.ts";
import { elicit } from "./elicit.ts";

/** A person who types these lines, and then leaves. */
async function asked(question: object, ...lines: string[]) {
  const said: string[] = [];
  const opened: string[] = [];
  const terminal = {
    say: (text: string) => void said.push(text),
    ask: async (text: string) => {
      said.push(text);
      return lines.shift();
    },
    close() {},
  };
  const answer = await elicit(toRaw(question), terminal, ({ href }) => void opened.push(href));
  return { answer, opened, said: said.join("\n"), left: lines };
}

const form = (properties: object, required: readonly string[] = []) => ({
  message: "Who are you?",
  requestedSchema: { type: "object", properties, required },
});

test("a question without fields is a yes or no", async () => {
  const question = form({});
  expect((await asked(question, "y")).answer).toEqual({ action: "accept" });
  expect((await asked(question, "")).answer).toEqual({ action: "decline" });
  expect((await asked(question)).answer).toEqual({ action: "cancel" });
});

test("a form is filled in field by field, and sent only after a last look", async () => {
  const question = form(
    {
      name: { type: "string", title: "Full name", description: "As in your passport." },
      age: { type: "integer", minimum: 18 },
      news: { type: "boolean", default: false },
      color: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
      size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l" }] },
      tags: { type: "array", items: { anyOf: [{ const: "a", title: "First" }, { const: "b" }] } },
      note: { type: "string" },
    },
    ["name"],
  );
  const lines = ["", "Ada", "x", "17", "36", "", "3", "2", "Small", "1, b", ""];
  const { answer, said } = await asked(question, ...lines, "");
  const content = { name: "Ada", age: 36, news: false, color: "g", size: "s", tags: ["a", "b"] };
  expect(answer).toEqual({ action: "accept", content });
  for (const part of ["Who are you?", "Full name (name)", "As in your passport.", "2. Green", "news [no]: "])
    expect(said).toContain(part);
  for (const part of ["required", "not a number", "The minimum is 18", "from 1 to 2"])
    expect(said).toContain(part);
  expect((await asked(question, ...lines, "n")).answer).toEqual({ action: "decline" });
  expect((await asked(question, "Ada", "36")).answer).toEqual({ action: "cancel" });
});

test("a web address is shown whole and opened only after a yes", async () => {
  const question = { mode: "url", message: "Log in.", url: "https://id.example/in?x=1" };
  const agreed = await asked(question, "y");
  expect(agreed).toMatchObject({ answer: { action: "accept" }, opened: ["https://id.example/in?x=1"] });
  expect(agreed.said).toContain("id.example:\n  https://id.example/in?x=1");
  expect(await asked(question, "n")).toMatchObject({ answer: { action: "decline" }, opened: [] });
  const file = await asked({ ...question, url: "file:///etc/passwd" }, "y");
  expect(file).toMatchObject({ answer: { action: "decline" }, opened: [], left: ["y"] });
});

test("a stranger's text cannot move the terminal", async () => {
  const { said } = await asked(
    { ...form({ "a\u001b[2J": { type: "string" } }), message: "\u001b]0;x\u0007hi" },
    "1",
    "",
  );
  for (const control of ["\u0007", "\u001b"]) expect(said).not.toContain(control);
});
