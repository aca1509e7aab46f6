/**
 * Turns a package of a server.json into the command that runs exactly that version, without a shell. Throws
 * UnsupportedEntry if that is not safe.
 */
import type { Entry } from "../candidate.ts";
import { allowedOptions, argumentsOf, type RunnerOptions, rejectShellCharacters } from "./command-line.ts";
import { environmentOf } from "./environment.ts";
import { rejectHostAccess } from "./host-access.ts";
import { type RegistryType, readImage, readUrl } from "./pattern.ts";
import type { Placeholders } from "./placeholders.ts";
import type { Package } from "./server-json.ts";
import { UnsupportedEntry } from "./unsupported-entry.ts";

interface Runner extends RunnerOptions {
  readonly command: string;
  /** True if it is, or starts, a shell script. */
  readonly shell: boolean;
  /** The package registry that it uses. Entries for another one are refused. */
  readonly source: RegExp;
}

type RunnableType = Exclude<RegistryType, "mcpb">;

export const RUNNERS: Readonly<Record<RunnableType, Runner>> = {
  npm: {
    command: "npx",
    shell: true,
    source: /^https:\/\/registry\.npmjs\.org\/?$/,
    flags: ["-q", "--quiet", "--prefer-offline", "--prefer-online", "--ignore-scripts"],
    valued: [],
    implied: ["-y", "--yes"],
  },
  pypi: {
    command: "uvx",
    shell: false,
    source: /^https:\/\/pypi\.org(?:\/simple)?\/?$/,
    flags: ["-q", "--quiet", "--isolated", "--no-cache", "--refresh", "--offline", "--no-progress"],
    valued: ["-p", "--python", "--prerelease", "--from"],
    implied: ["tool", "run", "uvx"],
  },
  oci: {
    command: "docker",
    shell: false,
    source: /^https:\/\/[a-zA-Z0-9.-]+(?::\d+)?\/?$/,
    flags: ["--init", "--read-only"],
    valued: [
      ..."-e --env -v --volume --mount --tmpfs -p --publish --network --net --add-host --platform --pull".split(
        " ",
      ),
      ..."-w --workdir -u --user -m --memory --cpus --shm-size --pids-limit -l --label --entrypoint --name".split(
        " ",
      ),
    ],
    implied: ["run", "-i", "--rm", "--interactive", "-it", "-t", "--tty"],
  },
  nuget: {
    command: "dnx",
    shell: true,
    source: /^https:\/\/(?:api|www)\.nuget\.org(?:\/v3\/index\.json)?\/?$/,
    flags: ["--prerelease", "--allow-roll-forward"],
    valued: [],
    implied: ["-y", "--yes", "dnx"],
  },
};

export function entryOf(
  listed: Package & { readonly registryType: RunnableType },
  placeholders: Placeholders,
): Entry {
  const runner = RUNNERS[listed.registryType];
  const { command } = runner;
  if (listed.transport.type !== "stdio")
    throw new UnsupportedEntry("the package is a remote server with an address");
  if (!runner.source.test(listed.registryBaseUrl ?? "") && listed.registryBaseUrl !== undefined)
    throw new UnsupportedEntry(`the package is not in the registry that ${command} uses`);
  const { runtimeHint = command, runtimeArguments } = listed;
  if (runtimeArguments && runtimeHint !== command && !(command === "docker" && runtimeHint === "podman"))
    throw new UnsupportedEntry("its arguments are for another runner");
  const options = allowedOptions(argumentsOf(runtimeArguments, placeholders), runner, command);
  const rest = argumentsOf(listed.packageArguments, placeholders);
  const env = environmentOf(listed.environmentVariables, placeholders);
  const names = Object.keys(env);
  const args = COMPOSE[listed.registryType]({ listed, options, rest, names });
  return {
    command,
    args: runner.shell ? rejectShellCharacters(args, command) : args,
    ...(names.length > 0 && { env }),
  };
}

interface CommandParts {
  readonly listed: Package;
  readonly options: readonly string[];
  readonly rest: readonly string[];
  /** The names of its environment variables. */
  readonly names: readonly string[];
}

const COMPOSE: Readonly<Record<RunnableType, (parts: CommandParts) => readonly string[]>> = {
  npm: ({ listed, options, rest }) => ["-y", ...options, pinned(listed), ...rest],
  pypi({ listed, options, rest }) {
    const from = options.findIndex((option) => option.split("=", 1)[0] === "--from");
    if (from < 0) return [...options, pinned(listed), ...rest];
    // With `--from` the command differs from the package name and is the first package argument.
    const [command] = rest;
    if (command === undefined || !/^[A-Za-z0-9][\w.-]*$/.test(command))
      throw new UnsupportedEntry("uvx lacks the command to run");
    const source = pinnedSource(
      listed,
      options[from] === "--from" ? options[from + 1] : options[from]?.slice(7),
    );
    return [
      ...options.slice(0, from),
      "--from",
      source,
      ...options.slice(from + (options[from] === "--from" ? 2 : 1)),
      ...rest,
    ];
  },
  oci: ({ listed, options, rest, names }) => [
    "run",
    "-i",
    "--rm",
    ...rejectHostAccess(options),
    ...names.flatMap((name) => ["-e", name]),
    imageOf(listed),
    ...rest,
  ],
  nuget: ({ listed, options, rest }) => [
    pinned(listed),
    "--yes",
    ...options,
    ...(rest.length > 0 ? ["--", ...rest] : []),
  ],
};

function pinned({ identifier, version }: Package): string {
  return `${identifier}@${version}`;
}

/** `--from` may add extras to the package, but must not name another package or version. */
function pinnedSource({ identifier, version }: Package, from = ""): string {
  const [, name = "", extras = "", at] = /^([\w.-]+)(\[[\w,-]+\])?(?:(?:@|==)(\S+))?$/.exec(from) ?? [];
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[._-]+/g, "-");
  if (plain(name) !== plain(identifier) || (at !== undefined && at !== version))
    throw new UnsupportedEntry("uvx would run another package");
  return `${identifier}${extras}==${version}`;
}

/** With a tag or digest; the default tag is the version. Some entries give the host in `registryBaseUrl`. */
function imageOf({ identifier, version, registryBaseUrl }: Package): string {
  const image = readImage(identifier);
  if (!image) throw new UnsupportedEntry("its image name is invalid");
  const named =
    image.tag !== undefined || image.digest !== undefined ? identifier : `${identifier}:${version}`;
  const host = registryBaseUrl && readUrl(registryBaseUrl)?.host;
  const hasHost = /^(?:[^/]*[.:][^/]*|localhost)\//.test(image.repository);
  const reference = !host || hasHost || /(?:^|\.)docker\.io$/.test(host) ? named : `${host}/${named}`;
  if (!readImage(reference)) throw new UnsupportedEntry("its image name is invalid");
  return reference;
}
