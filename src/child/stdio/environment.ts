/**
 * Chooses by name which variables of our environment a child gets. Pure: it reads no environment itself and
 * ignores values.
 */
import type { StdioSpec } from "../../config/spec.ts";
import { revealed } from "../../kernel/secret.ts";
import type { ChildUser } from "../child-user.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Programs need these to find their files, the user's language and the terminal. */
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

/** The user's folders and display on each platform. Paths and addresses, no secrets. */
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

/**
 * Where package runners keep what they downloaded. Settings like `npm_config_registry` can contain tokens, so
 * only these.
 */
const CACHES = [
  "npm_config_cache",
  "NPM_CONFIG_CACHE",
  "UV_CACHE_DIR",
  "UV_PYTHON_INSTALL_DIR",
  "UV_TOOL_DIR",
  "PIP_CACHE_DIR",
  "PIPX_HOME",
  "DENO_DIR",
  "BUN_INSTALL_CACHE_DIR",
  "YARN_CACHE_FOLDER",
  "PLAYWRIGHT_BROWSERS_PATH",
];

/** Folders and sockets of one user, which are useless for another one. */
const OF_USER: ReadonlySet<string> = new Set([
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TMPDIR",
  ...(BY_PLATFORM["linux"] ?? []),
  "__CF_USER_TEXT_ENCODING",
  ...CACHES,
]);

/** Our environment as a process of this user sees it. */
export function environmentOf(user: ChildUser | undefined, parent: Environment): Environment {
  if (!user) return parent;
  const shared = Object.entries(parent).filter(([name]) => !OF_USER.has(name));
  return { ...Object.fromEntries(shared), HOME: user.home, USER: user.name, LOGNAME: user.name };
}

/** The variables that every child gets, in addition to names that begin with LC_. */
export function safeNames(platform: NodeJS.Platform): readonly string[] {
  return [
    ...EVERYWHERE,
    ...PROXY,
    ...PROXY.map((name) => name.toLowerCase()),
    ...TRUST,
    ...CACHES,
    ...(BY_PLATFORM[platform] ?? []),
  ];
}

/** The safe list, plus `inheritEnv`, plus the server's own `env`, which overrides the others. */
export function childEnvironment(
  spec: Pick<StdioSpec, "env" | "inheritEnv">,
  parent: Environment,
  platform: NodeJS.Platform,
): Record<string, string> {
  // On Windows names of variables are case-insensitive.
  const normalized = platform === "win32" ? (name: string) => name.toUpperCase() : (name: string) => name;
  const allowed = new Set([
    ...safeNames(platform),
    ...(spec.inheritEnv === true ? [] : spec.inheritEnv.map(normalized)),
  ]);
  const chosen: Record<string, string> = {};
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined) continue;
    if (spec.inheritEnv === true || allowed.has(normalized(name)) || name.startsWith("LC_"))
      chosen[name] = value;
  }
  for (const [name, value] of Object.entries(revealed(spec.env))) {
    // With two spellings of one name it would be undefined which one applies.
    if (platform === "win32") removeOtherSpelling(chosen, name);
    chosen[name] = value;
  }
  return chosen;
}

function removeOtherSpelling(chosen: Record<string, string>, name: string): void {
  const twin = Object.keys(chosen).find((other) => other.toUpperCase() === name.toUpperCase());
  if (twin !== undefined) delete chosen[twin];
}
