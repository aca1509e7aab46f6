import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Attempted,
  crashed,
  died,
  type Episode,
  grantsRespawn,
  hear,
  joined,
  mayRepeat,
  noCrashes,
  type Word,
} from "./retry.ts";

describe("a respawn", () => {
  const once = crashed(noCrashes, { restarted: true, now: 1_000 });

  test("is granted to a server that was not restarted yet, and always to a vital one", () => {
    expect(grantsRespawn(noCrashes, { vital: false, now: 0 })).toBe(true);
    expect(grantsRespawn(once, { vital: false, now: 60_999 })).toBe(false);
    expect(grantsRespawn(once, { vital: true, now: 1_000 })).toBe(true);
  });

  test("is granted again after a minute without a crash", () => {
    expect(grantsRespawn(once, { vital: false, now: 61_000 })).toBe(true);
  });

  test("is not granted while crashes go on, restarted or not", () => {
    const again = crashed(once, { restarted: false, now: 50_000 });
    expect(grantsRespawn(again, { vital: false, now: 100_000 })).toBe(false);
    expect(grantsRespawn(again, { vital: false, now: 110_000 })).toBe(true);
  });

  test("is still to be had after a crash that led to no restart", () => {
    const alone = crashed(noCrashes, { restarted: false, now: 0 });
    expect(grantsRespawn(alone, { vital: false, now: 1 })).toBe(true);
  });

  test("starts the count anew once the old one is forgotten", () => {
    expect(crashed(once, { restarted: true, now: 61_000 }).restarts).toBe(1);
    expect(crashed(once, { restarted: true, now: 2_000 }).restarts).toBe(2);
  });
});

describe("a call", () => {
  const call: Attempted = { repeat: "unknown", over: false, unsent: false, tries: 1, sent: 1 };
  const unsent: Attempted = { ...call, unsent: true, sent: 0 };
  const granted = { respawn: true, retry: "crash" } as const;

  test("without annotations, or declared safe, gets its second attempt and no third", () => {
    expect(mayRepeat(call, granted)).toBe(true);
    expect(mayRepeat({ ...call, repeat: "safe" }, granted)).toBe(true);
    expect(mayRepeat({ ...call, tries: 2, sent: 2 }, granted)).toBe(false);
  });

  test.each<[string, Attempted, { respawn: boolean; retry: "crash" | "never" }]>([
    ["declared unsafe", { ...call, repeat: "unsafe" }, granted],
    ["answered, timed out or cancelled", { ...call, over: true }, granted],
    ["unsent but cancelled", { ...unsent, over: true }, granted],
    ["of a server that is not respawned", call, { ...granted, respawn: false }],
    ["of a server with retry never", call, { ...granted, retry: "never" }],
  ])("%s is not repeated", (_, attempted, server) => {
    expect(mayRepeat(attempted, server)).toBe(false);
  });

  test("that certainly was not sent may go on whatever the rule says of repeats, though not for ever", () => {
    const refused = { respawn: false, retry: "never" } as const;
    expect(mayRepeat({ ...unsent, repeat: "unsafe" }, refused)).toBe(true);
    expect(mayRepeat({ ...unsent, tries: 2 }, refused)).toBe(true);
    expect(mayRepeat({ ...unsent, tries: 3 }, refused)).toBe(false);
  });

  test("that was unsent at first still has its second attempt", () => {
    expect(mayRepeat({ ...call, tries: 2, sent: 1 }, granted)).toBe(true);
    expect(mayRepeat({ ...call, tries: 3, sent: 2 }, granted)).toBe(false);
  });
});

const under = (calls: number, before?: Episode) => died(before, calls).episode;
const pending = under(1);

/** How many failures these words make of one death under as many calls. */
function failures(words: readonly Word[], begin: Episode): number {
  let [episode, count] = [begin, 0];
  for (const word of words) {
    const heard = hear(episode, word);
    episode = heard.episode;
    if (heard.failure) count += 1;
  }
  return count;
}

describe("an episode", () => {
  test("is one failure if no call is repeated, however many there were", () => {
    expect(failures(["silent"], under(1))).toBe(1);
    expect(failures(["silent", "silent", "silent"], under(3))).toBe(1);
  });

  test("is not judged before the last call is known", () => {
    expect(failures(["silent", "silent"], under(3))).toBe(0);
    expect(failures(["silent", "silent", "cured"], under(3))).toBe(0);
  });

  test("is one failure if the respawn fails, though all its callers report it", () => {
    expect(failures(["failed", "failed", "failed"], under(3))).toBe(1);
  });

  test("that was recorded with the attempt before is recorded again only if its own respawn fails", () => {
    expect(failures(["silent"], under(1, pending))).toBe(0);
    expect(failures(["silent", "failed"], under(2, pending))).toBe(1);
  });

  test("of a connection without calls is none", () => {
    expect(failures(["failed"], under(0))).toBe(0);
  });

  const words = fc.array(fc.constantFrom<Word>("cured", "failed", "silent"), { minLength: 1, maxLength: 8 });

  test("records exactly one failure if uncured, none if cured", () => {
    fc.assert(
      fc.property(words, (said) => {
        const telling = said.find((word) => word !== "silent");
        expect(failures(said, under(said.length))).toBe(telling === "cured" ? 0 : 1);
      }),
    );
  });

  test("a server whose every respawn dies under its calls fails once less often than it dies", () => {
    let count = 0;
    let episode: Episode | undefined;
    for (let deaths = 0; deaths < 6; deaths += 1) {
      const death = died(episode, 2);
      if (death.failure) count += 1;
      episode = hear(death.episode, "silent").episode;
    }
    expect(count).toBe(5);
  });

  test("that is over does not fail once more when the connection it led to dies later", () => {
    const cured = hear(pending, "cured").episode;
    expect(died(cured, 1)).toEqual({ episode: pending, failure: false });
    expect(died(pending, 0).failure).toBe(false);
  });
});

describe("a call that hears later than others of the same death", () => {
  const { episode } = died(undefined, 1);

  test("is told of before the episode is over, and counts with it once", () => {
    const both = joined(episode);
    const first = hear(both, "silent");
    expect(first.failure).toBe(false);
    expect(hear(first.episode, "silent").failure).toBe(true);
    expect(hear(first.episode, "cured").failure).toBe(false);
  });

  test.each(["silent", "cured", "failed"] as const)("counts no more where it was %s already", (word) => {
    const late = joined(hear(episode, word).episode);
    expect(hear(late, "silent").failure).toBe(false);
    expect(hear(late, "cured").failure).toBe(false);
  });
});
