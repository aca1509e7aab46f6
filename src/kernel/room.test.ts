import fc from "fast-check";
import { expect, test } from "vitest";
import { Room } from "./room.ts";

test("a room counts in itself and in the outer room, in any order of enter and leave", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat({ max: 1 }))), fc.nat({ max: 5 }), (steps, most) => {
      const all = new Room(() => ({ inFlight: most }));
      const rooms = [new Room(() => ({}), all), new Room(() => ({ inFlight: 2 }), all)] as const;
      const counts = [0, 0] as [number, number];
      for (const [enters, at] of steps) {
        const which = at as 0 | 1;
        if (!enters && counts[which] === 0) continue;
        counts[which] += enters ? 1 : -1;
        if (enters) rooms[which].enter("inFlight");
        else rooms[which].leave("inFlight");
      }
      const total = counts[0] + counts[1];
      expect(rooms[0].full("inFlight")).toBe(total >= most);
      expect(rooms[1].full("inFlight")).toBe(total >= most || counts[1] >= 2);
      expect(rooms[0].full("sessions")).toBe(false);
    }),
  );
});

test("a request is counted until it resolves, rejects or throws", async () => {
  const room = new Room(() => ({ inFlight: 1 }));
  const pending = room.serve(() => Promise.resolve(7));
  expect(room.full("inFlight")).toBe(true);
  expect(await pending).toBe(7);
  expect(room.full("inFlight")).toBe(false);
  await expect(room.serve(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(() =>
    room.serve(() => {
      throw new Error("at once");
    }),
  ).toThrow("at once");
  await Promise.resolve();
  expect(room.full("inFlight")).toBe(false);
});
