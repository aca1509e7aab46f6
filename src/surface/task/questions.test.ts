import { expect, test } from "vitest";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { type QuestionListener, TaskQuestions } from "./questions.ts";

/** A listener that records the questions sent to it. */
function listener(): QuestionListener & {
  asked: string[];
  signal: CallSignal;
  answer(value: unknown): void;
  leave(): void;
} {
  const asked: string[] = [];
  const signal = new CallSignal();
  let settle: (answer: Raw) => void = () => {};
  let lose: (reason: Error) => void = () => {};
  return {
    asked,
    signal,
    answer: (value) => settle(toRaw(value)),
    leave() {
      signal.abort(new Error("gone"));
      lose(new Error("gone"));
    },
    uplink: {
      notify: () => {},
      request(method) {
        asked.push(method);
        return new Promise((resolve, reject) => {
          settle = resolve;
          lose = reject;
        });
      },
    },
  };
}

const open = new CallSignal();

test("a question waits for a listener and is sent to one listener only", async () => {
  let changes = 0;
  const questions = new TaskQuestions(() => void changes++);
  const answer = questions.ask("elicitation/create", undefined, open);
  expect([questions.size, changes]).toEqual([1, 1]);
  const [one, other] = [listener(), listener()];
  const leave = questions.listen(one);
  questions.listen(other);
  expect([one.asked, other.asked]).toEqual([["elicitation/create"], []]);
  one.answer({ action: "accept" });
  expect(fromRaw(await answer)).toEqual({ action: "accept" });
  expect([questions.size, changes]).toEqual([0, 2]);
  leave();
  void questions.ask("roots/list", undefined, open).catch(() => {});
  expect(other.asked).toEqual(["roots/list"]);
});

test("a question goes to the next listener if the first one disconnects, and is rejected if the client refuses it", async () => {
  const questions = new TaskQuestions(() => {});
  const answer = questions.ask("elicitation/create", undefined, open);
  const [one, other] = [listener(), listener()];
  const gone = questions.listen(one);
  gone();
  one.leave();
  await Promise.resolve();
  questions.listen(other);
  expect(other.asked).toEqual(["elicitation/create"]);
  other.answer("there");
  expect(fromRaw(await answer)).toBe("there");

  const refused = questions.ask("elicitation/create", undefined, open);
  const refusing: QuestionListener = {
    signal: new CallSignal(),
    uplink: { notify: () => {}, request: () => Promise.reject(new Error("no")) },
  };
  const questions2 = new TaskQuestions(() => {});
  questions2.listen(refusing);
  await expect(questions2.ask("elicitation/create", undefined, open)).rejects.toThrow("no");
  questions.refuseAll("over");
  await expect(refused).rejects.toThrow("over");
});

test("questions keep the child's names, and no name is used twice", async () => {
  const questions = new TaskQuestions(() => {});
  const first = questions.ask("elicitation/create", toRaw({ message: "1" }), open, { name: "who" });
  const second = questions.ask("elicitation/create", undefined, open, { name: "who" });
  const [one, two] = Object.keys(fromRaw(questions.requests()) as object);
  expect(one).toBe("who");
  questions.answer(toRaw({ who: "first", never: "asked" }));
  expect(fromRaw(await first)).toBe("first");
  const third = questions.ask("elicitation/create", undefined, open, { name: "who" });
  const names = Object.keys(fromRaw(questions.requests()) as object);
  expect(new Set(["who", ...names]).size).toBe(3);
  // A second answer to a question has no effect.
  questions.answer(toRaw({ who: "again", [two as string]: "second", [names[1] as string]: "third" }));
  expect([fromRaw(await second), fromRaw(await third)]).toEqual(["second", "third"]);
});

test("a cancelled question is not sent", async () => {
  const questions = new TaskQuestions(() => {});
  const signal = new CallSignal();
  const answer = questions.ask("elicitation/create", undefined, signal);
  signal.abort(new Error("given up"));
  await expect(answer).rejects.toThrow("given up");
  const late = listener();
  questions.listen(late);
  expect(late.asked).toEqual([]);
});
