/** Loaded into a process that is measured: on SIGUSR2 it collects garbage and writes what is left in use to PROBE_FILE. */
import { renameSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

process.on("SIGUSR2", () => {
  collect();
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  // Whoever waits for it must not read half of it.
  writeFileSync(`${process.env.PROBE_FILE}.draft`, JSON.stringify({ used: heapUsed + external, rss }));
  renameSync(`${process.env.PROBE_FILE}.draft`, process.env.PROBE_FILE);
});
