/** Takes away what processes that were killed left half written. Touches nothing of the living. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../home/file.ts";

/** As atomic writes name it: whose it is stands before the part that is never used twice. */
const TEMPORARY = /^\..*?(\d+)\.[0-9a-f-]{36}\.tmp$/;

export async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(TEMPORARY.exec(name)?.[1]);
    if (pid && !lives(pid)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
