/** The bytes of the heap that are left after a garbage collection. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

export function heapAfterGc(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
