/** What of our own environment a child may see. A pure choice by name; reads nothing itself and never looks at values. */
import type { StdioSpec } from "../../config/spec.ts";
import { revealed } from "../../kernel/secret.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** How a program finds its files, its user's language and its terminal. */
const EVERYWHERE = ["PATH", "HOME", "LANG", "LANGUAGE", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL", "TZ"];

const PROXY = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY"];

const TRUST = [
  "NODE_EXTRA_CA_CERTS",
  "NODE_USE_SYSTEM_CA",
  "NODE_USE_ENV_PROXY",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "AWS_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "PIP_CERT",
  "CARGO_HTTP_CAINFO",
  "DENO_CERT",
  "NIX_SSL_CERT_FILE",
];

/** Where the system keeps a user's folders and screen. Paths and addresses, no keys. */
const BY_PLATFORM: Readonly<Record<string, readonly string[]>> = {
  linux: [
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
  ],
  darwin: ["__CF_USER_TEXT_ENCODING", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"],
  win32: [
    "ALLUSERSPROFILE",
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERDOMAIN",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
  ],
};

/** What every child sees, beside names that begin with LC_. */
export function safeNames(platform: NodeJS.Platform): readonly string[] {
  return [
    ...EVERYWHERE,
    ...PROXY,
    ...PROXY.map((name) => name.toLowerCase()),
    ...TRUST,
    ...(BY_PLATFORM[platform] ?? []),
  ];
}

/** The safe list, then `inheritEnv`, then the child's own `env`, which wins. */
export function childEnvironment(
  spec: Pick<StdioSpec, "env" | "inheritEnv">,
  parent: Environment,
  platform: NodeJS.Platform,
): Record<string, string> {
  // Windows has Path and PATH mean the same.
  const spelled = platform === "win32" ? (name: string) => name.toUpperCase() : (name: string) => name;
  const wanted = new Set([
    ...safeNames(platform),
    ...(spec.inheritEnv === true ? [] : spec.inheritEnv.map(spelled)),
  ]);
  const chosen: Record<string, string> = {};
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined) continue;
    if (spec.inheritEnv === true || wanted.has(spelled(name)) || name.startsWith("LC_")) chosen[name] = value;
  }
  for (const [name, value] of Object.entries(revealed(spec.env))) {
    // Two spellings of one name would leave the choice to the system.
    if (platform === "win32") dropOtherSpelling(chosen, name);
    chosen[name] = value;
  }
  return chosen;
}

function dropOtherSpelling(chosen: Record<string, string>, name: string): void {
  const twin = Object.keys(chosen).find((other) => other.toUpperCase() === name.toUpperCase());
  if (twin !== undefined) delete chosen[twin];
}
