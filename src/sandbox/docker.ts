/** Code in a container of its own: no network, no capabilities, nothing to write to. The code may forge frames there; nothing in them is believed anyway. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { HostedExecutor } from "./hosted.ts";

/** Built by `scripts/sandbox-image.mjs`. */
export const IMAGE = "metamcp-sandbox:1";
const LABEL = "metamcp.sandbox";
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
    LABEL,
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

function docker(args: readonly string[], timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    execFile("docker", args, { timeout, env: dockerEnv() }, (error) => resolve(!error));
  });
}

/** Whether there is an engine, and our image in it. */
export async function dockerAnswers(): Promise<boolean> {
  return await docker(["image", "inspect", IMAGE], PROBE_MS);
}

export function createDockerExecutor(parts: {
  readonly clock: Clock;
  readonly log: Log;
  readonly image?: string;
}): HostedExecutor {
  return new HostedExecutor({
    clock: parts.clock,
    log: parts.log,
    backend: {
      name: "docker",
      unsafe: false,
      enforced: [
        "wallMs",
        "cpuMs",
        "memoryBytes",
        "calls",
        "callsInFlight",
        "argsBytes",
        "resultBytes",
        "valueBytes",
        "logBytes",
        "codeBytes",
      ],
    },
    perRun: true,
    launch() {
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
