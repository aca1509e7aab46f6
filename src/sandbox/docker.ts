/**
 * The `docker` backend: one container per run, without network, capabilities or a writable disk. The code can
 * forge frames there, so the gateway trusts none.
 */
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
/** Prefix of the label value. A Docker daemon may serve several machines. */
const GATEWAY = `${hostname()}:`;
const PROBE_MS = 2_000;

/** Sets every option explicitly, so that changed defaults of Docker have no effect. */
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

/** The variables by which the Docker CLI finds its daemon. */
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

/** Returns the output of a Docker command. Undefined if it failed. */
function docker(args: readonly string[], timeout: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile("docker", args, { timeout, env: dockerEnv() }, (error, printed) =>
      resolve(error ? undefined : printed),
    );
  });
}

/** Whether the Docker daemon answers and has the image. */
export async function dockerAnswers(): Promise<boolean> {
  return (await docker(["image", "inspect", IMAGE], PROBE_MS)) !== undefined;
}

/**
 * Kills containers that killed gateways on this machine left behind. The code in a container may ignore the
 * end of stdin.
 */
export async function sweep(): Promise<void> {
  const format = `{{.ID}} {{.Label "${LABEL}"}}`;
  const listed = await docker(["ps", "--filter", `label=${LABEL}`, "--format", format], PROBE_MS * 5);
  for (const line of (listed ?? "").split("\n")) {
    const [id = "", owner = ""] = line.split(" ");
    if (owner.startsWith(GATEWAY) && !isAlive(Number(owner.slice(GATEWAY.length))))
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
      // The container has a memory limit too, but its own one and not the `memoryBytes` of the run.
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
        // If the Docker CLI is killed, the container keeps running.
        killed: () => void docker(["kill", name], PROBE_MS * 5),
      };
    },
  });
}
