/** The contract tests for counts of what runs at the same time. They run in real time. */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Places } from "./counts.ts";

/** Places of all that count together; a process that is alone is one. */
export type MakePlaces = (most: number) => readonly Places[];

/** Takes a place as a limit does. Returns false if there is none. */
export async function occupy(places: Places): Promise<boolean> {
  const asked = places.ready?.();
  if (asked) await asked;
  if (places.full()) return false;
  places.enter();
  return true;
}

export function placesContract(name: string, make: MakePlaces): void {
  const times = (count: number) => Array.from({ length: count }, (_, n) => n);

  describe(`${name} count what runs`, () => {
    test.each([1, 2, 7, 50])("exactly %i of 90 at once", async (most) => {
      const all = make(most);
      const at = (n: number): Places => all[n % all.length] as Places;
      const got = await Promise.all(times(90).map((n) => occupy(at(n))));
      expect(got.filter(Boolean)).toHaveLength(most);
      for (const [n, entered] of got.entries()) if (entered) at(n).leave();
      // A place that is free anywhere can be taken everywhere.
      for (const places of all) {
        const again = await Promise.all(times(most).map(() => occupy(places)));
        expect(again.filter(Boolean)).toHaveLength(most);
        for (const _ of again) places.leave();
      }
    });

    test("never more than the limit, whoever comes and goes", async () => {
      const all = make(3);
      let running = 0;
      let peak = 0;
      const call = async (places: Places): Promise<void> => {
        if (!(await occupy(places))) return;
        running += 1;
        peak = Math.max(peak, running);
        await pause(Math.random() * 8);
        running -= 1;
        places.leave();
      };
      const began = performance.now();
      const client = async (n: number): Promise<void> => {
        while (performance.now() < began + 1_000) {
          await call(all[n % all.length] as Places);
          await pause(Math.random() * 4);
        }
      };
      await Promise.all(times(4 * all.length).map(client));
      expect(peak).toBe(3);
    });

    test("who waits gets a place that becomes free elsewhere", async () => {
      const all = make(1);
      const [first, last] = [all[0] as Places, all.at(-1) as Places];
      expect(await occupy(first)).toBe(true);
      expect(await occupy(last)).toBe(false);
      let got = false;
      const look = (): void => {
        if (got || last.full()) return;
        got = true;
        last.enter();
      };
      const unwatch = last.watch?.(look, () => (got ? 0 : 1));
      first.leave();
      look();
      while (!got) await pause(5);
      unwatch?.();
      expect(await occupy(first)).toBe(false);
    });
  });
}
