import { expect, test } from "vitest";
import { newReplicaId, plainId, ReplicaIds, readPlainId } from "./replica-ids.ts";

const secret = Buffer.alloc(32, 1);

test("a sealed id opens at every process with the secret, which learns whose it is", () => {
  const one = new ReplicaIds({ secret, replica: "a1" }, "tasks");
  const two = new ReplicaIds({ secret, replica: "b2" }, "tasks");
  const id = one.make("a name", "reader");
  expect(one.open(id, "reader")).toEqual({ name: "a name" });
  expect(two.open(id, "reader")).toEqual({ name: "a name", elsewhere: "a1" });
  expect(two.open(id, "other")).toBeUndefined();
  expect(new ReplicaIds({ secret, replica: "a1" }, "states").open(id, "reader")).toBeUndefined();
  expect(
    new ReplicaIds({ secret: Buffer.alloc(32), replica: "a1" }, "tasks").open(id, "reader"),
  ).toBeUndefined();
});

test("a process alone makes and opens ids without a replica", () => {
  const ids = new ReplicaIds({ secret }, "tasks");
  expect(ids.open(ids.make("name", ""), "")).toEqual({ name: "name" });
  expect([plainId("13", undefined), readPlainId("13", undefined)]).toEqual(["13", { name: "13" }]);
});

test("a plain id names its replica", () => {
  const [one, two] = [newReplicaId(), newReplicaId()];
  expect(one).not.toBe(two);
  const id = plainId("x-13", one);
  expect(readPlainId(id, one)).toEqual({ name: "x-13" });
  expect(readPlainId(id, two)).toEqual({ name: "x-13", elsewhere: one });
  for (const other of ["13", "-13", `${one}-`, ""]) expect(readPlainId(other, one)).toBeUndefined();
});
