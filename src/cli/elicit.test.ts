import { expect, test } from "vitest";
import { toRaw } from "../kernel/raw.ts";
import { elicit } from "./elicit.ts";

/** Asks a question at a fake terminal where these lines are typed; after them the input ends. */
async function answerTo(question: object, ...lines: string[]) {
  const output: string[] = [];
  const opened: string[] = [];
  const terminal = {
    say: (text: string) => void output.push(text),
    ask: async (text: string) => {
      output.push(text);
      return lines.shift();
    },
    close() {},
  };
  const answer = await elicit(toRaw(question), terminal, ({ href }) => void opened.push(href));
  return { answer, opened, output: output.join("\n"), unread: lines };
}

const form = (properties: object, required: readonly string[] = []) => ({
  message: "Who are you?",
  requestedSchema: { type: "object", properties, required },
});

test("a question without fields asks for yes or no", async () => {
  const question = form({});
  expect((await answerTo(question, "y")).answer).toEqual({ action: "accept" });
  expect((await answerTo(question, "")).answer).toEqual({ action: "decline" });
  expect((await answerTo(question)).answer).toEqual({ action: "cancel" });
});

test("a form is filled in field by field and sent only after a confirmation", async () => {
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
  const { answer, output } = await answerTo(question, ...lines, "");
  const content = { name: "Ada", age: 36, news: false, color: "g", size: "s", tags: ["a", "b"] };
  expect(answer).toEqual({ action: "accept", content });
  for (const part of ["Who are you?", "Full name (name)", "As in your passport.", "2. Green", "news [no]: "])
    expect(output).toContain(part);
  for (const part of ["required", "not a number", "The minimum is 18", "from 1 to 2"])
    expect(output).toContain(part);
  expect((await answerTo(question, ...lines, "n")).answer).toEqual({ action: "decline" });
  expect((await answerTo(question, "Ada", "36")).answer).toEqual({ action: "cancel" });
});

test("a URL is shown in full and opened only after a yes, and only if it is http or https", async () => {
  const question = { mode: "url", message: "Log in.", url: "https://id.example/in?x=1" };
  const agreed = await answerTo(question, "y");
  expect(agreed).toMatchObject({ answer: { action: "accept" }, opened: ["https://id.example/in?x=1"] });
  expect(agreed.output).toContain("id.example:\n  https://id.example/in?x=1");
  expect(await answerTo(question, "n")).toMatchObject({ answer: { action: "decline" }, opened: [] });
  const file = await answerTo({ ...question, url: "file:///etc/passwd" }, "y");
  expect(file).toMatchObject({ answer: { action: "decline" }, opened: [], unread: ["y"] });
});

test("control characters in the text of a server are removed", async () => {
  const { output } = await answerTo(
    { ...form({ "a\u001b[2J": { type: "string" } }), message: "\u001b]0;x\u0007hi" },
    "1",
    "",
  );
  for (const control of ["\u0007", "\u001b"]) expect(output).not.toContain(control);
});
