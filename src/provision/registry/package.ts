/** A package of a server.json as the one command that runs it, pinned, without a shell. Throws Misfit where that cannot be done safely. */
import type { Entry } from "../candidate.ts";
import type { Blanks } from "./blanks.ts";
import { admitted, argumentsOf, type Options, withoutShellSigns } from "./command-line.ts";
import { environmentOf } from "./environment.ts";
import { Misfit } from "./misfit.ts";
import { type RegistryType, readImage, readUrl } from "./pattern.ts";
import type { Package } from "./server-json.ts";

interface Runner extends Options {
  readonly command: string;
  /** It is, or starts, a script of a shell. */
  readonly shell: boolean;
  /** Where its packages come from; we would not tell it another place. */
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

export function entryOf(listed: Package & { readonly registryType: RunnableType }, blanks: Blanks): Entry {
  const runner = RUNNERS[listed.registryType];
  const { command } = runner;
  if (listed.transport.type !== "stdio") throw new Misfit("the package is a remote server with an address");
  if (!runner.source.test(listed.registryBaseUrl ?? "") && listed.registryBaseUrl !== undefined)
    throw new Misfit(`the package is not in the registry that ${command} uses`);
  const { runtimeHint = command, runtimeArguments } = listed;
  if (runtimeArguments && runtimeHint !== command && !(command === "docker" && runtimeHint === "podman"))
    throw new Misfit("its arguments are for another runner");
  const options = admitted(argumentsOf(runtimeArguments, blanks), runner, command);
  const rest = argumentsOf(listed.packageArguments, blanks);
  const env = environmentOf(listed.environmentVariables, blanks);
  const names = Object.keys(env);
  const args = COMPOSE[listed.registryType]({ listed, options, rest, names });
  return {
    command,
    args: runner.shell ? withoutShellSigns(args, command) : args,
    ...(names.length > 0 && { env }),
  };
}

interface Parts {
  readonly listed: Package;
  readonly options: readonly string[];
  readonly rest: readonly string[];
  /** Of its environment variables. */
  readonly names: readonly string[];
}

const COMPOSE: Readonly<Record<RunnableType, (parts: Parts) => readonly string[]>> = {
  npm: ({ listed, options, rest }) => ["-y", ...options, pinned(listed), ...rest],
  pypi({ listed, options, rest }) {
    const from = options.findIndex((option) => option.split("=", 1)[0] === "--from");
    if (from < 0) return [...options, pinned(listed), ...rest];
    // The package has another name than its command, which is then the first of the package's own arguments.
    const [command] = rest;
    if (command === undefined || !/^[A-Za-z0-9][\w.-]*$/.test(command))
      throw new Misfit("uvx lacks the command to run");
    const source = sameSource(
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
    ...withoutHost(options),
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

/** `--from` may add extras to the package, but neither name another one nor another version. */
function sameSource({ identifier, version }: Package, from = ""): string {
  const [, name = "", extras = "", at] = /^([\w.-]+)(\[[\w,-]+\])?(?:(?:@|==)(\S+))?$/.exec(from) ?? [];
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[._-]+/g, "-");
  if (plain(name) !== plain(identifier) || (at !== undefined && at !== version))
    throw new Misfit("uvx would run another package");
  return `${identifier}${extras}==${version}`;
}

/** Tag or digest; without either the tag is the version. Older entries name the host apart. */
function imageOf({ identifier, version, registryBaseUrl }: Package): string {
  const image = readImage(identifier);
  if (!image) throw new Misfit("its image name is invalid");
  const named =
    image.tag !== undefined || image.digest !== undefined ? identifier : `${identifier}:${version}`;
  const host = registryBaseUrl && readUrl(registryBaseUrl)?.host;
  const hasHost = /^(?:[^/]*[.:][^/]*|localhost)\//.test(image.repository);
  const reference = !host || hasHost || /(?:^|\.)docker\.io$/.test(host) ? named : `${host}/${named}`;
  if (!readImage(reference)) throw new Misfit("its image name is invalid");
  return reference;
}

/** A container that has the whole machine, or the engine itself, is none. */
function withoutHost(options: readonly string[]): readonly string[] {
  const open = options.some((option) => /\.sock\b|(?:^|[=,])(?:src=|source=)?\/+(?:[:,]|$)/.test(option));
  if (open) throw new Misfit("the container would get access to the whole machine");
  return options;
}
