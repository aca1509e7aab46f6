/**
 * Loaded into a measured process. On SIGUSR2 it writes how long the longest turn of the event loop since the
 * last signal computed, in milliseconds, to PROBE_FILE. Counts processor time of the main thread, because a
 * busy machine makes every turn long.
 */
import { openSync, readSync, renameSync, writeFileSync } from "node:fs";

const text = Buffer.alloc(64);
const statistics = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
/** Nanoseconds on a processor are the first number. */
const computed = () =>
  Number.parseInt(text.toString("latin1", 0, readSync(statistics, text, 0, 64, 0)), 10) / 1e6;

let longest = 0;
let before = computed();
setInterval(() => {
  const now = computed();
  longest = Math.max(longest, now - before);
  before = now;
}, 1).unref();

process.on("SIGUSR2", () => {
  // Renamed at the end, so that a reader never gets half of it.
  writeFileSync(`${process.env.PROBE_FILE}.draft`, JSON.stringify({ longest }));
  renameSync(`${process.env.PROBE_FILE}.draft`, process.env.PROBE_FILE);
  longest = 0;
});
