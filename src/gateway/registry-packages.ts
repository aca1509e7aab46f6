/**
 * A local server as a package of a registry: what others need to run the same release themselves. Values of
 * variables are left out, and what would need one in an argument is refused. Pure.
 */
import { isRunnerVariable } from "../kernel/runner-variables.ts";
import type { Specs, StoredText } from "./objects.ts";
import { shownText } from "./secret-texts.ts";

export interface RegistryPackage {
  readonly registryType: "npm" | "pypi" | "oci";
  readonly identifier: string;
  readonly version?: string;
  readonly transport: { readonly type: "stdio" };
  readonly packageArguments?: readonly { readonly type: "positional"; readonly value: string }[];
  readonly environmentVariables?: readonly {
    readonly name: string;
    readonly isRequired: true;
    readonly isSecret: true;
  }[];
}

interface Runner {
  readonly type: RegistryPackage["registryType"];
  readonly flags: ReadonlySet<string>;
  /** Identifier and version of exactly one release; an image has its version in the identifier. */
  readonly release: RegExp;
  readonly example: string;
}

const RUNNERS: ReadonlyMap<string, Runner> = new Map([
  [
    "npx",
    {
      type: "npm",
      flags: new Set(["-y", "--yes", "-q", "--quiet"]),
      release: /^((?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*)@(\d+\.\d+\.\d+(?:[-+][\w.+-]+)?)$/,
      example: "name@1.2.3",
    },
  ],
  [
    "uvx",
    {
      type: "pypi",
      flags: new Set(["-q", "--quiet"]),
      release: /^([A-Za-z0-9][\w.-]*)(?:==|@)(\d+(?:\.\d+)*(?:(?:a|b|rc|\.post|\.dev)\d+)?)$/,
      example: "name==1.2.3",
    },
  ],
  [
    "docker",
    {
      type: "oci",
      flags: new Set(["-i", "--interactive", "--rm", "--init"]),
      release: /^([a-z0-9][\w./-]*(?::\d+\/[\w./-]+)?(?::(?!latest$)\w[\w.-]*|@sha256:[a-f0-9]{64}))$/,
      example: "image:1.2.3",
    },
  ],
]);

/** Returns a text that says why it cannot be listed. */
export function packageOf({ command = "", args = [], env = {} }: Specs["server"]): RegistryPackage | string {
  const runner = RUNNERS.get(command);
  if (!runner) return "cannot be listed as a package: its command is not npx, uvx or docker";
  const shown = args.map((arg, at) => shownText(arg, args[at - 1]));
  if (shown.some((text, at) => text !== args[at])) return "has a secret in its arguments: put it into env";
  if (shown.some((text) => /[{}]/.test(text)))
    return "has a variable or a brace in its arguments, which would mean something else elsewhere";
  const own = Object.keys(env).find(isRunnerVariable);
  if (own !== undefined) return `sets ${own}, which decides which code runs`;
  const { at, names } = optionsOf(runner, args);
  const [, identifier, version] = runner.release.exec(shown[at] ?? "") ?? [];
  if (identifier === undefined)
    return `does not name one release of a package right after its usual options, such as ${runner.example}`;
  const variables = [...new Set([...Object.keys(env), ...names])];
  const rest = shown.slice(at + 1);
  return {
    registryType: runner.type,
    identifier,
    ...(version !== undefined && { version }),
    transport: { type: "stdio" },
    ...(rest.length > 0 && {
      packageArguments: rest.map((value) => ({ type: "positional" as const, value })),
    }),
    ...(variables.length > 0 && {
      environmentVariables: variables.map((name) => ({ name, isRequired: true, isSecret: true }) as const),
    }),
  };
}

/** Where the options of the runner end, and the variables that they hand over by name. */
function optionsOf({ type, flags }: Runner, args: readonly StoredText[]) {
  const names: string[] = [];
  let at = type === "oci" && args[0] === "run" ? 1 : 0;
  for (; at < args.length; at++) {
    const [arg, next] = [args[at], args[at + 1]];
    const isName = typeof next === "string" && /^[A-Za-z_]\w*$/.test(next);
    if (type === "oci" && (arg === "-e" || arg === "--env") && isName) {
      names.push(next);
      at += 1;
    } else if (typeof arg !== "string" || !flags.has(arg)) break;
  }
  return { at, names };
}
