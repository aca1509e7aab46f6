import fc from "fast-check";
import { expect, test } from "vitest";
import { ConcurrencyLimiter } from "./concurrency-limiter.ts";
import { DEAD_MS } from "./yielding-session.ts";

test("a limiter counts in itself and in the outer limiter, in any order of enter and leave", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat({ max: 1 }))), fc.nat({ max: 5 }), (steps, most) => {
      const all = new ConcurrencyLimiter(() => ({ inFlight: most }));
      const limiters = [
        new ConcurrencyLimiter(() => ({}), all),
        new ConcurrencyLimiter(() => ({ inFlight: 2 }), all),
      ] as const;
      const counts = [0, 0] as [number, number];
      for (const [enters, at] of steps) {
        const which = at as 0 | 1;
        if (!enters && counts[which] === 0) continue;
        counts[which] += enters ? 1 : -1;
        if (enters) limiters[which].enter("inFlight");
        else limiters[which].leave("inFlight");
      }
      const total = counts[0] + counts[1];
      expect(limiters[0].full("inFlight")).toBe(total >= most);
      expect(limiters[1].full("inFlight")).toBe(total >= most || counts[1] >= 2);
      expect(limiters[0].full("sessions")).toBe(false);
    }),
  );
});

test("a request is counted until it resolves, rejects or throws", async () => {
  const limiter = new ConcurrencyLimiter(() => ({ inFlight: 1 }));
  const pending = limiter.serve(() => Promise.resolve(7));
  expect(limiter.full("inFlight")).toBe(true);
  expect(await pending).toBe(7);
  expect(limiter.full("inFlight")).toBe(false);
  await expect(limiter.serve(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(() =>
    limiter.serve(() => {
      throw new Error("at once");
    }),
  ).toThrow("at once");
  await Promise.resolve();
  expect(limiter.full("inFlight")).toBe(false);
});

test("places of all endpoints are shared, so that nobody holds them all by spreading over endpoints", () => {
  const all = new ConcurrencyLimiter(() => ({ sessions: 4 }));
  const endpoints = [1, 2].map(() => {
    const limiter = new ConcurrencyLimiter(() => ({}), all);
    const open: string[] = [];
    limiter.onFull(() =>
      open.map((owner, at) => {
        const end = (): void => {
          open.splice(at, 1);
          limiter.leave("sessions");
        };
        return { owner, idleMs: 0, busy: false, end };
      }),
    );
    const begin = (owner: string): boolean => {
      if (!limiter.makeRoom(owner)) return false;
      open.push(owner);
      limiter.enter("sessions");
      return true;
    };
    return { open, begin };
  });
  const [one, two] = endpoints as [(typeof endpoints)[0], (typeof endpoints)[0]];
  expect([one, two, one, two].map(({ begin }) => begin("hog"))).toEqual([true, true, true, true]);
  expect([one.begin("hog"), two.begin("ada"), one.begin("ada"), two.begin("ada")]).toEqual([
    false,
    true,
    true,
    false,
  ]);
  // Who holds as much elsewhere takes no place of others.
  expect(one.begin("hog")).toBe(false);
  expect([...one.open, ...two.open].toSorted()).toEqual(["ada", "ada", "hog", "hog"]);
});

test("a session whose client is gone makes room for a caller who could claim no place of others", () => {
  const limiter = new ConcurrencyLimiter(() => ({ sessions: 2 }));
  const open = ["ada", "gone"];
  for (const _ of open) limiter.enter("sessions");
  const idleMs = { ada: 0, gone: DEAD_MS };
  limiter.onFull(() =>
    open.map((owner) => {
      const end = (): void => {
        open.splice(open.indexOf(owner), 1);
        limiter.leave("sessions");
      };
      return { owner, idleMs: idleMs[owner as keyof typeof idleMs], busy: false, end };
    }),
  );
  expect(limiter.makeRoom("new")).toBe(true);
  expect(open).toEqual(["ada"]);
});
