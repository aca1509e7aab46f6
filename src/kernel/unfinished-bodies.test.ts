import { expect, test } from "vitest";
import { UnfinishedBodies } from "./unfinished-bodies.ts";

function tracked(limits = { perOwner: 10, total: 25 }) {
  const bodies = new UnfinishedBodies(limits);
  const cut: string[] = [];
  const begin = (owner: string, name: string, bytes: number) => {
    const body = bodies.begin(owner, () => cut.push(name));
    body.add(bytes);
    return body;
  };
  return { bodies, cut, begin };
}

test("an owner over its share loses its oldest body, and nobody else loses one", () => {
  const { bodies, cut, begin } = tracked();
  begin("other", "other", 9);
  begin("own", "first", 5);
  const second = begin("own", "second", 5);
  expect(cut).toEqual([]);
  second.add(1);
  expect(cut).toEqual(["first"]);
  expect(bodies.bytes).toBe(15);
});

test("beyond the total, the owner that holds most makes room", () => {
  const { cut, begin } = tracked();
  begin("a", "oldest", 1);
  begin("b", "large", 10);
  begin("c", "c", 9);
  begin("d", "new", 6);
  expect(cut).toEqual(["large"]);
});

test("a complete body gives its bytes back and is not cut", () => {
  const { bodies, cut, begin } = tracked();
  const complete = begin("own", "complete", 10);
  complete.done();
  complete.done();
  begin("own", "next", 10);
  expect(cut).toEqual([]);
  expect(bodies.bytes).toBe(10);
});

test("a body larger than the share is cut itself", () => {
  const { bodies, cut, begin } = tracked();
  const body = begin("own", "huge", 11);
  body.add(100);
  expect(cut).toEqual(["huge"]);
  expect(bodies.bytes).toBe(0);
});
