import fc from "fast-check";
import { expect, test } from "vitest";
import { carries, type GatewayId, Marker, nest, ownGatewayId, starter } from "./mark.ts";

const gateway: GatewayId = { space: "4026531836", pid: 42, start: "987654" };

test("all marks are unique, also those of two connectors in one process", () => {
  const [one, two] = [new Marker(gateway), new Marker(gateway)];
  const marks = [one.next("a"), one.next("a"), two.next("a"), two.next("a")];
  expect(new Set(marks).size).toBe(4);
});

test("the gateway can be read from a mark and the mark is recognised, for all server names, nested or not", () => {
  const outer = new Marker({ ...gateway, pid: 7 }).next("outer");
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.constantFrom("a,b", "ä/ö", "1.2.3.ab/1-a", "\ud800")),
      fc.boolean(),
      (name, nested) => {
        const mark = new Marker(gateway).next(name);
        const marks = nest(nested ? outer : undefined, mark);
        expect(starter(marks)).toEqual(gateway);
        expect(carries(marks, mark)).toBe(true);
        expect(carries(marks, outer)).toBe(nested);
        expect(carries(marks, mark.slice(0, -1))).toBe(false);
      },
    ),
  );
});

test("an invalid mark has no gateway", () => {
  for (const text of ["", "x", "1.2/3", "-.42.1.ab/1-a", "1.2.-.ab/1-a", "1.2.3.ab/1-a,", "1.2.3.ab"]) {
    expect(starter(text)).toBeUndefined();
  }
  expect(carries(undefined, "x")).toBe(false);
});

test.runIf(process.platform === "linux")("the own gateway id has a pid namespace and a start time", () => {
  expect(ownGatewayId()).toEqual({
    space: expect.stringMatching(/^\d+$/),
    pid: process.pid,
    start: expect.stringMatching(/^\d+$/),
  });
});
