/**
 * Reads the marks of processes of another user. Without the capability SYS_PTRACE even root may not read the
 * environment of another user's process, so a process of that user reads them. Its answer counts only for
 * processes of that user, because they can forge it.
 */
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

interface Found {
  readonly pid: number;
  readonly marks: string | undefined;
  /** Its environment may not be read, or there is none yet. */
  readonly bare: boolean;
}

/** The same processes, with the marks of those whose environment could not be read. */
export function withMarksOf<F extends Found>(owner: Owner, variable: string, found: readonly F[]): F[] {
  const unread = found.filter(({ pid, bare }) => bare && ownerOf(pid) === owner.uid);
  if (unread.length === 0) return [...found];
  const files = unread.map(({ pid }) => `/proc/${pid}/environ`);
  const options = { uid: owner.uid, gid: owner.gid, env: { PATH: "/usr/bin:/bin" }, maxBuffer: 1 << 26 };
  const { stdout } = spawnSync("grep", ["-zsH", `^${variable}=`, ...files], options);
  const marks = new Map<number, string>();
  for (const entry of String(stdout ?? "").split("\0")) {
    const [, pid, value] = /^\/proc\/(\d+)\/environ:[^=]+=(.*)$/s.exec(entry) ?? [];
    if (pid !== undefined && value !== undefined) marks.set(Number(pid), value);
  }
  const known = new Set(unread);
  return found.map((one) => (known.has(one) ? { ...one, marks: marks.get(one.pid) } : one));
}

function ownerOf(pid: number): number | undefined {
  try {
    return statSync(`/proc/${pid}`).uid;
  } catch {
    return undefined;
  }
}
