/**
 * The arguments of docker and podman for one confined server. Each option that confines is set explicitly, so
 * that changed defaults of an engine have no effect. Pure.
 */
import type { Engine } from "../../../config/container-engine.ts";
import type { Sandbox } from "../../../config/sandbox.ts";
import type { Jail, Mount } from "./bubblewrap.ts";

export interface ContainerParts extends Pick<Jail, "listed" | "hidden" | "own" | "cwd"> {
  readonly engine: Engine["name"];
  /** Of the container, by which it is ended. */
  readonly name: string;
  /** The value of the label, by which those that a killed gateway left are found. */
  readonly owner: string;
  readonly sandbox: Sandbox & { readonly image: string };
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** The whole words of the server. */
  readonly words: readonly string[];
}

export const LABEL = "metamcp.server";

export function containerArgs(parts: ContainerParts): readonly string[] {
  const { engine, name, owner, sandbox, user, env, words, listed, hidden, own, cwd } = parts;
  const { image, memoryMb, processes } = sandbox;
  const [program = "", ...args] = words;
  return [
    "run",
    "--rm",
    "-i",
    "--init",
    `--name=${name}`,
    `--label=${LABEL}=${owner}`,
    "--pull=never",
    // Its own network, in which lists of hosts have nothing but our proxy.
    ...(sandbox.network === "all" ? [] : ["--network=none"]),
    "--read-only",
    ...["/tmp", "/var/tmp"].map((path) => `--tmpfs=${path}:rw,nosuid,nodev,mode=1777`),
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--ipc=private",
    "--log-driver=none",
    ...(memoryMb === undefined ? [] : [`--memory=${memoryMb}m`, `--memory-swap=${memoryMb}m`]),
    ...(processes === undefined ? [] : [`--pids-limit=${processes}`]),
    ...(user ? [`--user=${user.uid}:${user.gid}`] : []),
    // Without root an engine gives its containers other users, which could not use the listed places.
    ...(engine === "podman" && user && user.uid !== 0 ? ["--userns=keep-id"] : []),
    ...[...listed, ...own].map(bound),
    ...hidden.folders.map((path) => `--mount=type=tmpfs,target=${path},tmpfs-mode=0500`),
    ...hidden.files.map((path) => bound({ from: "/dev/null", to: path })),
    ...Object.entries(env).map(([key, value]) => `--env=${isOfEngine(key) ? `${key}=${value}` : key}`),
    `--workdir=${cwd}`,
    `--entrypoint=${program}`,
    image,
    ...args,
  ];
}

/**
 * What is mounted below a place that may only be read is left out: older engines let it be written.
 */
function bound({ from, to, writable }: Mount): string {
  return `--mount=type=bind,source=${from},target=${to}${writable ? "" : ",readonly,bind-nonrecursive=true"}`;
}

/** Engines read a mount as a list with commas. */
export function mountable(path: string): boolean {
  return !/[,"\p{Cc}]/u.test(path);
}

/**
 * Variables that the program of an engine, which is outside of the sandbox, would obey. Their values stand in
 * its arguments; all others are passed in its environment, because everybody can read the arguments.
 */
const OF_ENGINE =
  /^(?:_|LD_|DYLD_|GLIBC|GCONV|LOCPATH|NLSPATH|MALLOC_|GO|CGO_|DOCKER|MOBY|BUILD|COMPOSE|CONTAINER|PODMAN|CRIO|CONMON|OCI_|STORAGE_|REGISTR|OTEL_|XDG_|DBUS_|SSH_|GPG|GNUPG|SSL_CERT|NOTIFY_|LISTEN_|SYSTEMD|PATH$|HOME$|USER$|LOGNAME$|SHELL$|TMPDIR$|TZ$|IFS$|(?:HTTPS?|FTP|ALL|NO)_PROXY$)/i;

export function isOfEngine(name: string): boolean {
  return OF_ENGINE.test(name);
}

/** Variables of this machine that a container can use; others name its programs and files. */
const PORTABLE =
  /^(?:HOME|TMPDIR|LANG|LANGUAGE|LC_.*|TZ|TERM|(?:https?|ftp|all|no)_proxy|NODE_USE_ENV_PROXY)$/i;

export function containerEnvironment(
  env: Readonly<Record<string, string>>,
  chosen: (name: string) => boolean,
): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => PORTABLE.test(name) || chosen(name)));
}
