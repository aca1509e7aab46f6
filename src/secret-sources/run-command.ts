/** Runs the program of a password store, without a shell and with a time limit. */
import { execFile } from "node:child_process";
import { delimiter, isAbsolute } from "node:path";
import { codeOf } from "../home/file.ts";
import { SecretUnavailable } from "./unavailable.ts";

export interface Ran {
  /** Undefined if a signal ended it. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  /** The first line it wrote to stderr. */
  readonly complaint: string;
}

interface RunOptions {
  /** What to install if there is no such program. */
  readonly install: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly stdin?: string;
}

const LARGEST_OUTPUT = 1 << 20;

/** Rejects if the program is missing, takes too long or prints too much. */
export function runCommand(
  program: string,
  args: readonly string[],
  { install, timeoutMs, signal, stdin = "" }: RunOptions,
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PATH: trustedPath(process.env["PATH"]) };
    const options = {
      env,
      timeout: timeoutMs,
      killSignal: "SIGKILL",
      maxBuffer: LARGEST_OUTPUT,
      signal,
    } as const;
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const complaint = stderr.trim().split("\n")[0]?.slice(0, 300) ?? "";
      if (!error) resolve({ exitCode: 0, stdout, complaint });
      else if (codeOf(error) === "ENOENT")
        reject(new SecretUnavailable(`there is no program "${program}": install ${install}`));
      else if (typeof error.code === "number") resolve({ exitCode: error.code, stdout, complaint });
      else if (error.killed && !signal?.aborted)
        reject(new SecretUnavailable(`"${program}" gave no answer within ${timeoutMs / 1_000} s`));
      else reject(new SecretUnavailable(`"${program}" failed: ${error.code ?? error.signal ?? "unknown"}`));
    });
    // A program that ends without reading closes the pipe, which is no failure.
    child.stdin?.on("error", () => {});
    child.stdin?.end(stdin);
  });
}

/** Without folders of a project, in which npm and a server of that project may put a program of any name. */
function trustedPath(path = ""): string {
  const folders = path
    .split(delimiter)
    .filter((one) => isAbsolute(one) && !/[\\/]node_modules[\\/]/.test(one));
  return folders.join(delimiter);
}
