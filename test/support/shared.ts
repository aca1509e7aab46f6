/**
 * Things that all tests of a file share, such as a gateway: made before its first test, ended after its last.
 */
import { beforeAll, onTestFinished } from "vitest";

type End = () => unknown;

let ends: End[] | undefined;

/**
 * Runs at the end of the test, or after the last test of the file for something that `shared` makes. Last
 * registered, first run.
 */
export function atEnd(end: End): void {
  if (ends) ends.push(end);
  else onTestFinished(async () => void (await end()));
}

/** Call at the top of a file or a `describe`. The tests get the value by calling the result. */
export function shared<T>(make: () => T | Promise<T>, timeout?: number): () => T {
  let value: T | undefined;
  beforeAll(async () => {
    const mine: End[] = [];
    ends = mine;
    try {
      value = await make();
    } finally {
      ends = undefined;
    }
    return async () => {
      for (const end of mine.reverse()) await end();
    };
  }, timeout);
  return () => value as T;
}
