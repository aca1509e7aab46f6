import { readFile } from "node:fs";
import { expect, test } from "vitest";
import { ownTurn } from "./own-turn.ts";

test("each piece of work has a turn of its own, in order", async () => {
  let turn = 0;
  let over = false;
  const count = (): void => {
    turn += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const seen: [string, number][] = [];
  const work = ["a", "b", "c"].map(async (name) => {
    await ownTurn();
    seen.push([name, turn]);
  });
  await Promise.all(work);
  over = true;
  expect(seen.map(([name]) => name)).toEqual(["a", "b", "c"]);
  expect(new Set(seen.map(([, at]) => at)).size).toBe(3);
});

test("work on what was just read waits for the next turn", async () => {
  const seen: string[] = [];
  await new Promise<void>((resolve) => {
    readFile(import.meta.filename, () => {
      setImmediate(() => {
        seen.push("end of this turn");
        setImmediate(() => seen.push("next turn"));
      });
      void ownTurn().then(() => {
        seen.push("own turn");
        resolve();
      });
    });
  });
  expect(seen).toEqual(["end of this turn", "next turn", "own turn"]);
});
