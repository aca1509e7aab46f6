/** Code in a container of its own: no network, no capabilities, nothing to write to. The code may forge frames there; nothing in them is believed anyway. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { LIMITS_FROM_OUTSIDE } from "./executor.ts";
import { HostedExecutor } from "./hosted.ts";

/** Built by `scripts/sandbox-image.mjs`. */
export const IMAGE = "metamcp-sandbox:1";
const LABEL = "metamcp.sandbox";
/** Who started it: an engine may serve several machines. */
const GATEWAY = `${hostname()}:`;
const PROBE_MS = 2_000;

/** Everything is named: what a default may become does not matter. */
export function dockerArgs(name: string, image = IMAGE): readonly string[] {
  return [
    "run",
    "--rm",
    "-i",
    "--init",
    "--name",
    name,
    "--label",
    `${LABEL}=${GATEWAY}${process.pid}`,
    "--pull",
    "never",
    "--network",
    "none",
    "--read-only",
    "--tmpfs",
    "/tmp:rw,noexec,nosuid,nodev,size=16m",
    "--cap-drop",
    "ALL",
    "--security-opt",
    "no-new-privileges",
    "--pids-limit",
    "64",
    "--memory",
    "256m",
    "--memory-swap",
    "256m",
    "--cpus",
    "1",
    "--ulimit",
    "nofile=64:64",
    "--ulimit",
    "core=0",
    "--ipc",
    "none",
    "--user",
    "65534:65534",
    "--log-driver",
    "none",
    image,
    "node",
    "--no-warnings",
    "--max-old-space-size=128",
    "/sandbox/host.js",
    "node",
  ];
}

/** The command line finds its engine by these. */
function dockerEnv(): Record<string, string> {
  const names = [
    "PATH",
    "HOME",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_TLS_VERIFY",
    "DOCKER_CERT_PATH",
  ];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** What it printed; undefined where it failed. */
function docker(args: readonly string[], timeout: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile("docker", args, { timeout, env: dockerEnv() }, (error, printed) =>
      resolve(error ? undefined : printed),
    );
  });
}

/** Whether there is an engine, and our image in it. */
export async function dockerAnswers(): Promise<boolean> {
  return (await docker(["image", "inspect", IMAGE], PROBE_MS)) !== undefined;
}

/** Ends containers of gateways of this machine that were killed: what runs in there need not end with its input. */
export async function sweep(): Promise<void> {
  const format = `{{.ID}} {{.Label "${LABEL}"}}`;
  const listed = await docker(["ps", "--filter", `label=${LABEL}`, "--format", format], PROBE_MS * 5);
  for (const line of (listed ?? "").split("\n")) {
    const [id = "", mark = ""] = line.split(" ");
    if (mark.startsWith(GATEWAY) && !isAlive(Number(mark.slice(GATEWAY.length))))
      void docker(["kill", id], PROBE_MS * 5);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

export function createDockerExecutor(parts: {
  readonly clock: Clock;
  readonly log: Log;
  readonly image?: string;
}): HostedExecutor {
  let swept = false;
  return new HostedExecutor({
    clock: parts.clock,
    log: parts.log,
    backend: {
      name: "docker",
      unsafe: false,
      // Memory ends too, but where the container ends and not where the run was told.
      enforced: LIMITS_FROM_OUTSIDE,
    },
    perRun: true,
    launch() {
      if (!swept) void sweep();
      swept = true;
      const name = `metamcp-${randomBytes(8).toString("hex")}`;
      return {
        command: "docker",
        args: dockerArgs(name, parts.image),
        env: dockerEnv(),
        // Killing the command line leaves the container running.
        killed: () => void docker(["kill", name], PROBE_MS * 5),
      };
    },
  });
}
