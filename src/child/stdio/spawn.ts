/**
 * Starts one program without a shell, in its own process group. Explains why a start failed; retries nothing.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import type { StdioSpec } from "../../config/spec.ts";
import { codeOf } from "../../home/file.ts";
import type { ChildUser } from "../child-user.ts";
import { ChildFailure } from "../link.ts";

export type Environment = Readonly<Record<string, string>>;

export interface Started {
  readonly process: ChildProcessWithoutNullStreams;
  readonly pid: number;
}

/**
 * Rejects with ChildFailure. The returned process already runs: add listeners in the same turn of the event
 * loop.
 */
export async function start(
  spec: Pick<StdioSpec, "command" | "args" | "cwd">,
  env: Environment,
  user?: ChildUser,
): Promise<Started> {
  let fault: unknown;
  try {
    const child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env,
      detached: true,
      windowsHide: true,
      // With both, Node drops the supplementary groups too.
      ...(user && { uid: user.uid, gid: user.gid }),
    });
    // Without a pid the start failed, and the reason comes as an event.
    if (child.pid !== undefined) return { process: child, pid: child.pid };
    [fault] = await once(child, "error");
  } catch (error) {
    fault = error;
  }
  throw await startFailure(fault, spec, env);
}

export async function startFailure(
  fault: unknown,
  spec: Pick<StdioSpec, "command" | "cwd">,
  env: Environment,
): Promise<ChildFailure> {
  const code = codeOf(fault);
  const offline = (message: string) =>
    new ChildFailure("offline", message, { unsent: true, needsFix: true, cause: fault });
  if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") {
    // The system gives the same code for a bad folder and a bad program.
    const folder = await faultOfFolder(spec.cwd);
    if (folder)
      return offline(`The folder ${spec.cwd} ${folder}, so "${spec.command}" cannot run in it. Set "cwd".`);
  }
  if (code === "EACCES") {
    return offline(
      `"${spec.command}" is not executable. Run chmod +x, or use its interpreter as the command.`,
    );
  }
  if (code === "ENOENT") return offline(await absent(spec, env));
  const reason = fault instanceof Error ? fault.message : String(fault);
  return new ChildFailure("other", `"${spec.command}" could not be started: ${reason}`, {
    unsent: true,
    cause: fault,
  });
}

async function faultOfFolder(path: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isDirectory()) return "is not a folder";
    await access(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return codeOf(error) === "EACCES" ? "cannot be entered" : "does not exist";
  }
}

async function absent(
  { command, cwd }: Pick<StdioSpec, "command" | "cwd">,
  env: Environment,
): Promise<string> {
  const folders = command.includes("/") ? [cwd] : (env["PATH"] ?? "").split(delimiter).filter(Boolean);
  for (const folder of folders) {
    const file = command.includes("/") ? resolve(folder, command) : join(folder, command);
    const there = await access(file).then(
      () => true,
      () => false,
    );
    if (there)
      return `${file} exists, but the interpreter in its first line does not. Install the interpreter.`;
  }
  if (/\s/.test(command)) return `There is no program "${command}". Put arguments into "args", one by one.`;
  return `The command "${command}" was not found. Install it, or give its full path as "command".`;
}
