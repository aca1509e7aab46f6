/**
 * Turns the start of a server into the start of bubblewrap with the server inside. Never starts it with more
 * than its `sandbox` says: what cannot be done is a failure.
 */
import { execFile } from "node:child_process";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cannotConfine } from "../../../config/confinable.ts";
import { type Engine, engineFor } from "../../../config/container-engine.ts";
import { idOf } from "../../../config/identity.ts";
import { NetworkHosts } from "../../../config/network-host.ts";
import { isInside, type Sandbox } from "../../../config/sandbox.ts";
import type { StdioSpec } from "../../../config/spec.ts";
import { toolPath } from "../../../config/tool-path.ts";
import { safeName } from "../../../home/safe-name.ts";
import { revealed } from "../../../kernel/secret.ts";
import type { ChildUser } from "../../child-user.ts";
import { mayInstall } from "../../download.ts";
import { childEnvironment, environmentOf } from "../environment.ts";
import { type Environment, startFailure } from "../spawn.ts";
import { bridgeTo, PROXY_VARIABLES, SOCKET_INSIDE } from "./bridge.ts";
import { bubblewrapArgs, type Mount } from "./bubblewrap.ts";
import { containerAdvice } from "./container-advice.ts";
import { type ContainerStart, containerStart } from "./container-start.ts";
import { endContainer } from "./containers.ts";
import { type Attempt, Egress } from "./egress.ts";
import { checkScript, listedPlaces, realOf, unusable } from "./places.ts";
import { findProgram, programPlaces } from "./program.ts";
import { registryHosts } from "./registries.ts";

/** What to start instead. */
export interface Start extends Pick<StdioSpec, "command" | "args" | "cwd"> {
  readonly env: Record<string, string>;
  /** It is the command of a container engine, which only our own user may be able to use. */
  readonly asOurselves?: boolean;
}

export interface ConfineOptions {
  /** METAMCP_HOME; `of` resolves links in it. */
  readonly home: string;
  readonly user: ChildUser | undefined;
  /** Our environment. */
  readonly parent: Readonly<Record<string, string | undefined>>;
  /** Called for each connection that goes through the proxy. */
  readonly onAttempt: (attempt: Attempt) => void;
}

/** The confinement of one process, from its private folder on. */
export class Confinement {
  readonly env: Record<string, string>;
  readonly #folder: string;
  readonly #options: ConfineOptions;
  /** Its only way out, if it reaches some hosts. */
  #egress: Egress | undefined;
  #container: { readonly engine: Engine; readonly start: ContainerStart } | undefined;
  #installing: () => boolean = () => true;

  private constructor(spec: StdioSpec, folder: string, options: ConfineOptions) {
    this.#folder = folder;
    this.#options = options;
    this.env = environmentIn(folder, spec, options.parent);
  }

  /** Registries are reachable as long as this says so. */
  installsWhile(installing: () => boolean): void {
    this.#installing = installing;
  }

  async end(): Promise<void> {
    const container = this.#container;
    if (container) await endContainer(container.engine, container.start.container);
    await this.#egress?.close();
  }

  /** What mends a start that failed with this output. */
  advice(output: string): string | undefined {
    const container = this.#container;
    return container && containerAdvice(output, container.engine.name, container.start);
  }

  static async of(spec: StdioSpec, options: ConfineOptions): Promise<Confinement> {
    const home = (await realOf(options.home)) ?? options.home;
    const resolved = { ...options, home };
    return new Confinement(spec, await privateFolder(spec, resolved), resolved);
  }

  /** Rejects with ChildFailure if the server cannot be confined as its entry says. */
  async confine(spec: StdioSpec, sandbox: Sandbox, env: Environment): Promise<Start> {
    const { home, user, parent } = this.#options;
    const hosts = hostsOf(spec, sandbox);
    const reason = cannotConfine(hosts ? { ...sandbox, network: hosts } : sandbox, user);
    if (reason !== undefined) throw unusable(`${spec.name}: ${reason}`);
    const homes = { metamcp: home, user: user?.home ?? parent["HOME"] ?? "/root" };
    const { image } = sandbox;
    if (image !== undefined) {
      const engine = engineFor({ ...sandbox, image });
      if (typeof engine === "string") throw unusable(`${spec.name}: ${engine}`);
      const egress = hosts && (await this.#openEgress(hosts, env, sandbox));
      const more = { engine, env, homes, folder: this.#folder, user, parent, socket: egress?.socket };
      const start = await containerStart(spec, { ...sandbox, image }, more);
      this.#container = { engine, start };
      return start;
    }
    const program = await findProgram(spec, env);
    if (program === undefined) throw await startFailure({ code: "ENOENT" }, spec, env);
    const { listed, hidden } = await listedPlaces(sandbox, homes);
    const { programs, script } = await programPlaces(program, spec, homes);
    checkScript(script, spec, sandbox, homes);
    const needed = [...programs, ...(script === undefined ? [] : [script])];
    const shown = (path: string): boolean => listed.some(({ to }) => isInside(path, to));
    const own: Mount[] = [
      ...needed.filter((path) => !shown(path)).map((path) => ({ from: path, to: path })),
      { from: this.#folder, to: this.#folder, writable: true },
    ];
    if (hosts) {
      const egress = await this.#openEgress(hosts, env, sandbox);
      own.push({ from: egress.socket, to: SOCKET_INSIDE, writable: true });
    }
    const bridge = hosts ? bridgeTo(tool("perl")) : [];
    const jail = bubblewrapArgs({
      listed,
      hidden,
      own,
      cwd: shown(spec.cwd) ? spec.cwd : this.#folder,
      isRoot: (user?.uid ?? process.geteuid?.()) === 0,
      sharesNetwork: sandbox.network === "all",
      memoryBytes: bytesOf(sandbox),
    });
    const { inside, outside } = split(hosts ? { ...env, ...PROXY_VARIABLES } : env);
    return {
      command: tool("bwrap"),
      args: [...jail, ...bridge, ...limits(sandbox), ...inside, program, ...spec.args],
      cwd: "/",
      env: outside,
    };
  }

  async #openEgress(hosts: readonly string[], env: Environment, { within }: Sandbox): Promise<Egress> {
    const { home, user, onAttempt } = this.#options;
    const listed = new NetworkHosts(hosts);
    const registries = registryHosts(env, within !== undefined);
    const whileInstalling = listed.with(registries);
    const egress = await Egress.open({
      home,
      hosts: () => (this.#installing() ? whileInstalling : listed),
      onAttempt,
      forOtherUser: user !== undefined,
    });
    this.#egress = egress;
    return egress;
  }
}

/** Undefined if it needs no proxy: it has the network of this machine, or none at all. */
function hostsOf(spec: StdioSpec, { network }: Sandbox): readonly string[] | undefined {
  if (network === "all") return undefined;
  if (network === "none") return mayInstall(spec) ? [] : undefined;
  return network;
}

/** The private folder of a server is its home. Logins of accounts stay apart. */
async function privateFolder(
  spec: Pick<StdioSpec, "id" | "name" | "credential">,
  { home, user }: ConfineOptions,
): Promise<string> {
  const name = safeName([idOf(spec), spec.credential].filter(Boolean).join("/"));
  const folder = join(user ? join(user.home, ".metamcp-servers") : join(home, "servers"), name);
  if (!user) await mkdir(folder, { recursive: true, mode: 0o700 });
  else if (!(await exists(folder)))
    await promisify(execFile)("mkdir", ["-p", "-m", "700", folder], {
      uid: user.uid,
      gid: user.gid,
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
    });
  return folder;
}

/** The home is the private folder, and no sockets or folders of the user are named. */
function environmentIn(
  folder: string,
  spec: StdioSpec,
  parent: ConfineOptions["parent"],
): Record<string, string> {
  const user = { name: "server", uid: 0, gid: 0, home: folder };
  const env = childEnvironment(spec, environmentOf(user, parent), "linux");
  return { ...env, TMPDIR: revealed(spec.env)["TMPDIR"] ?? "/tmp" };
}

function bytesOf({ memoryMb }: Sandbox): number | undefined {
  return memoryMb === undefined ? undefined : memoryMb * 1024 * 1024;
}

/** Each process holds its limits itself; it cannot raise them, because it has no capabilities. */
function limits(sandbox: Sandbox): readonly string[] {
  const { processes } = sandbox;
  const bytes = bytesOf(sandbox);
  const all = [
    ...(bytes === undefined ? [] : [`--data=${bytes}`]),
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
  ];
  return all.length > 0 ? [tool("prlimit"), "--core=0", ...all, "--"] : [];
}

/** Programs that run outside of the sandbox, or hold its limits. */
function tool(name: Parameters<typeof toolPath>[0]): string {
  const path = toolPath(name);
  if (path === undefined) throw unusable(`${name} is not installed any more`);
  return path;
}

/** Variables with which the loader and Perl would run code of the server in what confines it. */
const OF_LOADER = /^(LD_|PERL|GLIBC_TUNABLES$|GCONV_PATH$|LOCPATH$|NLSPATH$)/;

/**
 * Values are secrets, and everybody can read the arguments of a process, so only the loader's become some.
 * They are set last: what holds the limits must not obey them.
 */
function split(env: Readonly<Record<string, string>>) {
  const [early, late] = [true, false].map((isEarly) =>
    Object.entries(env).filter(([name]) => OF_LOADER.test(name) !== isEarly),
  ) as [[string, string][], [string, string][]];
  const inside = late.length === 0 ? [] : [tool("env"), ...late.map(([name, value]) => `${name}=${value}`)];
  return { inside, outside: Object.fromEntries(early) };
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
