/** The built `metamcp serve` in a process of its own, on a free port. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { atEnd } from "./shared.ts";
import { adminOf, type TeamGateway, type TeamOptions, teamEnvironment } from "./team-gateway.ts";
import { ROOT, type Temp } from "./temp.ts";
import { until } from "./until.ts";

export interface TeamProcess extends TeamGateway {
  readonly pid: number;
  /** Resolves with the exit code. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

export async function teamProcess(
  folder: Temp,
  {
    flags = [],
    env,
    under = [],
  }: TeamOptions & {
    /** A program, with arguments, that executes the gateway. */
    readonly under?: readonly string[];
  } = {},
): Promise<TeamProcess> {
  const serve = [process.execPath, join(ROOT, "dist/metamcp.js"), "serve", "--port", "0", ...flags];
  const [program = "", ...args] = [...under, ...serve];
  const child = spawn(program, args, {
    cwd: folder.path("."),
    env: teamEnvironment(folder, env),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk));
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const kill = (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return exited;
  };
  const stop = async (): Promise<void> => void (await kill("SIGTERM"));
  atEnd(stop);
  const url = await until(
    () => {
      if (child.exitCode !== null) throw new Error(`metamcp serve ended: ${stderr}`);
      return /^https?:\/\/\S+$/m.exec(stderr)?.[0];
    },
    { what: "metamcp serve" },
  );
  return {
    url,
    pid: child.pid as number,
    get stderr() {
      return stderr;
    },
    ...adminOf(url),
    kill,
    stop,
  };
}
