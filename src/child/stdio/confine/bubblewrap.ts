/**
 * The arguments of bubblewrap for one server. It starts with an empty file system and gets single places of
 * ours, so that what nobody thought of stays hidden. Pure.
 */

/** A place outside, and where it appears inside. */
export interface Mount {
  readonly from: string;
  readonly to: string;
  readonly writable?: boolean;
}

export interface Jail {
  /** What the entry lists. */
  readonly listed: readonly Mount[];
  /** Folders that stay empty and files that stay empty, although a listed place contains them. */
  readonly hidden: { readonly folders: readonly string[]; readonly files: readonly string[] };
  /** What the server needs to run. */
  readonly own: readonly Mount[];
  readonly cwd: string;
  /** It runs as root, who owns the settings of the kernel in /proc even without any capability. */
  readonly isRoot: boolean;
  /** Whether it has the network of this machine. */
  readonly sharesNetwork: boolean;
  /** The most bytes of files in memory. */
  readonly memoryBytes: number | undefined;
}

/** Programs, libraries and data that everybody may read. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu"];

/** /etc has secrets too, which root could read, so only these. */
const ETC = [
  "alternatives",
  "ca-certificates",
  "ca-certificates.conf",
  "chromium",
  "chromium.d",
  "crypto-policies",
  "debian_version",
  "fonts",
  "gai.conf",
  "group",
  "host.conf",
  "hosts",
  "java",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "locale.conf",
  "localtime",
  "lsb-release",
  "machine-id",
  "magic",
  "mime.types",
  "nsswitch.conf",
  "os-release",
  "passwd",
  "pki/ca-trust",
  "pki/tls/certs",
  "protocols",
  "python3",
  "resolv.conf",
  "services",
  "ssl/cert.pem",
  "ssl/certs",
  "ssl/openssl.cnf",
  "static",
  "terminfo",
  "timezone",
  "xdg",
];

export function bubblewrapArgs(jail: Jail): readonly string[] {
  const { listed, hidden, own, cwd, isRoot, sharesNetwork, memoryBytes } = jail;
  const size = memoryBytes === undefined ? [] : ["--size", String(memoryBytes)];
  const folder = (path: string): readonly string[] => [...size, "--perms", "1777", "--tmpfs", path];
  return [
    // Processes of its own: it neither sees others nor can it signal or trace them.
    "--unshare-all",
    "--unshare-user",
    ...(sharesNetwork ? ["--share-net"] : []),
    "--die-with-parent",
    // Without it a server could type into the terminal that started us (TIOCSTI).
    "--new-session",
    "--cap-drop",
    "ALL",
    ...SYSTEM.flatMap((path) => ["--ro-bind-try", path, path]),
    ...ETC.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...folder("/dev/shm"),
    ...folder("/tmp"),
    ...folder("/var/tmp"),
    ...listed.flatMap(bound),
    ...hidden.folders.flatMap((path) => ["--tmpfs", path]),
    ...hidden.files.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...own.flatMap(bound),
    ...hidden.folders.flatMap((path) => ["--remount-ro", path]),
    ...(isRoot ? ["--remount-ro", "/proc"] : []),
    "--remount-ro",
    "/dev",
    "--remount-ro",
    "/",
    "--chdir",
    cwd,
    "--",
  ];
}

function bound({ from, to, writable }: Mount): readonly string[] {
  return [writable ? "--bind" : "--ro-bind", from, to];
}
