/**
 * Loaded into a measured process. On SIGUSR2 it collects garbage and writes the used memory to PROBE_FILE.
 */
import { renameSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

process.on("SIGUSR2", () => {
  collect();
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  // Renamed at the end, so that a reader never gets half of it.
  writeFileSync(`${process.env.PROBE_FILE}.draft`, JSON.stringify({ used: heapUsed + external, rss }));
  renameSync(`${process.env.PROBE_FILE}.draft`, process.env.PROBE_FILE);
});
