/**
 * Loaded into a measured process. On SIGUSR2 it writes to PROBE_FILE how long the longest turn of the event
 * loop since the last signal computed, in milliseconds, and if that is over PROBE_LONG also how long a fixed
 * piece of work computes now.
 * Counts processor time of the main thread, because a busy machine makes every turn long.
 */
import { openSync, readSync, renameSync, writeFileSync } from "node:fs";

const text = Buffer.alloc(64);
const statistics = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
/** Nanoseconds on a processor are the first number. */
const computed = () =>
  Number.parseInt(text.toString("latin1", 0, readSync(statistics, text, 0, 64, 0)), 10) / 1e6;

/**
 * What turns with large messages mostly do: decode texts and look at bytes. It allocates little, because other
 * load makes the collection of garbage far dearer.
 */
const WORK = Buffer.from("\u{1f600}".repeat(75_000));
function work() {
  let seen = WORK.toString().length;
  for (let times = 0; times < 4; times++)
    for (let i = 0; i < WORK.length; i++) if ((WORK[i] | 0x20) === 0x7b) seen++;
  return seen;
}
/** Processors share caches and slow each other down, so processor time depends on the load too. */
function unitOfWork() {
  const began = computed();
  let times = 0;
  // The statistics change with each tick of the system's clock, so the work must take many of them.
  for (let now = began; now - began < UNIT_MS; now = computed(), times++) work();
  return (computed() - began) / times;
}
const UNIT_MS = 50;

let longest = 0;
let before = computed();
setInterval(() => {
  const now = computed();
  longest = Math.max(longest, now - before);
  before = now;
}, 1).unref();

process.on("SIGUSR2", () => {
  const found = Math.max(longest, computed() - before);
  const unit = found < process.env.PROBE_LONG ? 0 : unitOfWork();
  // Renamed at the end, so that a reader never gets half of it.
  writeFileSync(`${process.env.PROBE_FILE}.draft`, JSON.stringify({ longest: found, unit }));
  renameSync(`${process.env.PROBE_FILE}.draft`, process.env.PROBE_FILE);
  longest = 0;
  before = computed();
});
