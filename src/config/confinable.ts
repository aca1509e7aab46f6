/**
 * Whether this machine can confine a server in the asked way; if not, why, and what mends it. Runs bubblewrap
 * once, at the first server that asks for it. Confines nothing.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { release } from "node:os";
import { engineFor } from "./container-engine.ts";
import type { Sandbox } from "./sandbox.ts";
import { isExecutable, toolPath } from "./tool-path.ts";

export interface ConfinedUser {
  readonly uid: number;
  readonly gid: number;
}

const PROBE_MS = 10_000;
/** The kernel that counts processes per user namespace. */
const COUNTS_PROCESSES = [5, 14] as const;

/** The users as which bubblewrap was seen to work. A failure is not kept, because it may be mended. */
const works = new Set<number>();

export function cannotConfine(sandbox: Sandbox, user?: ConfinedUser): string | undefined {
  const { platform } = process;
  const { image } = sandbox;
  if (image !== undefined && platform !== "win32") {
    const engine = engineFor({ ...sandbox, image });
    return typeof engine === "string" ? engine : undefined;
  }
  if (platform !== "linux") {
    const system = platform === "darwin" ? "macOS" : platform === "win32" ? "Windows" : platform;
    const mend = platform === "win32" ? "" : 'name an "image" in its sandbox to run it in a container, ';
    return `it asks for a sandbox, which is not possible on ${system}: ${mend}run MetaMCP in a Linux container or virtual machine, or set "sandbox": false to run it unconfined`;
  }
  return withoutBubblewrap(user) ?? withoutLimits(sandbox, user) ?? withoutBridge(sandbox);
}

function withoutBubblewrap(user: ConfinedUser | undefined): string | undefined {
  const uid = user?.uid ?? process.geteuid?.() ?? 0;
  if (works.has(uid)) return undefined;
  const bubblewrap = toolPath("bwrap");
  if (bubblewrap === undefined)
    return `it asks for a sandbox, which needs bubblewrap: ${install("bubblewrap")}`;
  const isolated = ["--unshare-all", "--unshare-user", "--cap-drop", "ALL"];
  const mounts = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"];
  try {
    execFileSync(bubblewrap, [...isolated, ...mounts, "--", "true"], {
      timeout: PROBE_MS,
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: process.env["PATH"] ?? "" },
      cwd: "/",
      ...(user && { uid: user.uid, gid: user.gid }),
    });
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: Buffer };
    const said =
      String(stderr ?? "")
        .trim()
        .split("\n")
        .at(-1) || message;
    return `it asks for a sandbox, but bubblewrap does not work here (${said}): ${permission()}`;
  }
  works.add(uid);
  return undefined;
}

/** How to permit what bubblewrap needs. */
function permission(): string {
  const retry = "then restart MetaMCP";
  if (read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1")
    return `permit user namespaces with "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" or an AppArmor profile for bwrap, ${retry}`;
  if (read("/proc/sys/kernel/unprivileged_userns_clone") === "0")
    return `permit user namespaces with "sudo sysctl -w kernel.unprivileged_userns_clone=1", ${retry}`;
  if (read("/proc/sys/user/max_user_namespaces") === "0")
    return `permit user namespaces with "sudo sysctl -w user.max_user_namespaces=10000", ${retry}`;
  return `in a container, start it with "--security-opt seccomp=unconfined --security-opt systempaths=unconfined"; elsewhere permit user namespaces, ${retry}`;
}

function withoutLimits({ memoryMb, processes }: Sandbox, user: ConfinedUser | undefined): string | undefined {
  if (memoryMb === undefined && processes === undefined) return undefined;
  if (toolPath("prlimit") === undefined)
    return `its sandbox limits memory or processes, which needs prlimit: ${install("util-linux")}`;
  if (processes === undefined) return undefined;
  const [major = 0, minor = 0] = release().split(".").map(Number);
  if (major < COUNTS_PROCESSES[0] || (major === COUNTS_PROCESSES[0] && minor < COUNTS_PROCESSES[1]))
    return `its sandbox limits processes, which needs Linux ${COUNTS_PROCESSES.join(".")} or newer: remove "processes", or update the kernel`;
  if ((user?.uid ?? process.geteuid?.()) === 0)
    return 'its sandbox limits processes, which Linux does not do for root: run MetaMCP as another user (a gateway with "--child-user nobody"), or remove "processes"';
  return undefined;
}

/** Hosts are reached through a small forwarder in Perl. */
function withoutBridge({ network }: Sandbox): string | undefined {
  if (network === "all" || toolPath("perl") !== undefined) return undefined;
  return `its sandbox lists hosts or installs a package, which needs perl: ${install("perl")}`;
}

const INSTALLERS = {
  "apt-get": "sudo apt-get install",
  dnf: "sudo dnf install",
  pacman: "sudo pacman -S",
  apk: "sudo apk add",
  zypper: "sudo zypper install",
} as const;

function install(name: string): string {
  const found = Object.entries(INSTALLERS).find(
    ([program]) => isExecutable(`/usr/bin/${program}`) || isExecutable(`/sbin/${program}`),
  );
  return `run "${found?.[1] ?? "sudo apt-get install"} ${name}", then restart MetaMCP`;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
