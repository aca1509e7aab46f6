/**
 * Finds the container engine of this machine that can run a server in its image as its sandbox asks; if there
 * is none, why, and what mends it. Starts no container.
 */
import { execFileSync } from "node:child_process";
import type { Sandbox } from "./sandbox.ts";
import { toolPath } from "./tool-path.ts";

export type EngineName = "docker" | "podman";

export interface Engine {
  readonly name: EngineName;
  readonly path: string;
}

export interface EngineProbe {
  readonly platform: NodeJS.Platform;
  readonly path: (name: EngineName | "perl") => string | undefined;
  /** What it prints. Throws with what it complains about. */
  readonly run: (path: string, args: readonly string[]) => string;
}

const PROBE_MS = 2_000;

/** Variables of ours by which an engine finds its daemon and its files. */
const OF_ENGINE =
  /^(PATH|HOME|USER|TMPDIR|XDG_.*|DOCKER_(HOST|CONTEXT|CONFIG|CERT_PATH|TLS_VERIFY)|CONTAINERS?_.*|DBUS_SESSION_BUS_ADDRESS)$/;

export function engineEnvironment(parent: Readonly<Record<string, string | undefined>> = process.env) {
  const found = Object.entries(parent).filter(([name, value]) => value !== undefined && OF_ENGINE.test(name));
  return Object.fromEntries(found) as Record<string, string>;
}

/** Asked once: everybody waits for the answer, and after a restart it is asked again. */
const silent = new Set<string>();

export const systemProbe: EngineProbe = {
  platform: process.platform,
  path: toolPath,
  run: (path, args) => {
    if (silent.has(path)) throw new Error(`no answer within ${PROBE_MS / 1_000} s`);
    try {
      return execFileSync(path, args, {
        timeout: PROBE_MS,
        killSignal: "SIGKILL",
        stdio: ["ignore", "pipe", "pipe"],
        encoding: "utf8",
        env: engineEnvironment(),
        cwd: "/",
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ETIMEDOUT") silent.add(path);
      throw error;
    }
  },
};

/** What was seen to work. A failure is not kept, because it may be mended. */
const found = new Map<string, Engine>();

/** The engine, or why there is none. */
export function engineFor(
  sandbox: Sandbox & { readonly image: string },
  probe = systemProbe,
): Engine | string {
  const { image, network, memoryMb, processes } = sandbox;
  if (typeof network !== "string" && probe.platform !== "linux")
    return 'its sandbox lists hosts or installs a package without a network, which works in a container only on Linux: set "network" to "all"';
  const limits = [
    ...(memoryMb === undefined ? [] : ["memory"]),
    ...(processes === undefined ? [] : ["pids"]),
  ];
  const key = [image, ...limits].join("\n");
  const known = probe === systemProbe ? found.get(key) : undefined;
  if (known) return known;
  const engines = (["docker", "podman"] as const).flatMap((name) => {
    const path = probe.path(name);
    return path === undefined ? [] : [{ name, path }];
  });
  const [lacking, unanswered]: [string[], string[]] = [[], []];
  for (const engine of engines) {
    const silence = whySilent(engine, probe);
    const lack = silence ?? whatIsMissing(engine, image, limits, probe);
    if (lack === undefined) {
      if (probe === systemProbe) found.set(key, engine);
      return engine;
    }
    (silence === undefined ? lacking : unanswered).push(lack);
  }
  // One that answers is nearer to being usable.
  const because =
    lacking[0] ?? unanswered[0] ?? "neither docker nor podman is installed: install one of them";
  return `it asks for a container of ${image}, but ${because}, then restart MetaMCP`;
}

function whySilent({ name, path }: Engine, { run, platform }: EngineProbe): string | undefined {
  try {
    // Elsewhere the listed places would be those of another machine.
    const isHere =
      name === "docker"
        ? /^(unix|npipe):/.test(run(path, ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"]))
        : run(path, ["info", "--format", "{{.Host.ServiceIsRemote}}"]).trim() === "false";
    if (!isHere)
      return `${name} here uses an engine on another machine: make one of this machine its default`;
    run(path, ["image", "ls", "-q"]);
    return undefined;
  } catch (error) {
    const start =
      name === "docker" && platform === "linux" ? ' (for example "sudo systemctl start docker")' : "";
    return `${name} does not answer (${complaintOf(error)}): start it${start}`;
  }
}

function whatIsMissing(
  { name, path }: Engine,
  image: string,
  limits: readonly string[],
  { run }: EngineProbe,
): string | undefined {
  try {
    run(path, ["image", "inspect", "--format", "{{.Id}}", image]);
  } catch {
    return `${name} does not have this image: run "${name} pull ${image}"`;
  }
  const missing = limits.length > 0 && missingLimit(name, limits, (args) => run(path, args));
  if (missing)
    return `${name} cannot limit ${missing === "pids" ? "processes" : missing} here: enable this control group, or remove the limit`;
  return undefined;
}

/** An engine without a control group warns, and starts the container without the limit. */
function missingLimit(
  name: EngineName,
  limits: readonly string[],
  run: (args: readonly string[]) => string,
): string | undefined {
  const format =
    name === "docker"
      ? "{{if .MemoryLimit}}memory{{end}} {{if .PidsLimit}}pids{{end}}"
      : "{{.Host.CgroupControllers}}";
  try {
    const known = run(["info", "--format", format]).split(/[^a-z]+/);
    return limits.find((one) => !known.includes(one));
  } catch {
    return limits[0];
  }
}

function complaintOf(error: unknown): string {
  const { stderr, message } = error as Error & { readonly stderr?: Buffer | string };
  const lines = String(stderr ?? "").trim();
  return (lines || message).split("\n").at(-1)?.slice(0, 200) ?? "";
}
