/** Decides by name whether the publisher of a server is trusted. The rules are read in trust-file.ts. */
import type { Candidate, Entry } from "./candidate.ts";

export type Trust = "trusted" | "denied" | "unknown";

export interface TrustRules {
  /**
   * Names of packages and of registry entries, or all of one publisher: `@scope/*`, `io.github.name/*`.
   * `pypi:name` means a package of one package registry.
   */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

const REGISTRY_OF_COMMAND: Readonly<Record<string, string>> = {
  npx: "npm",
  uvx: "pypi",
  dnx: "nuget",
  docker: "oci",
  podman: "oci",
};

export type TrustSubject = Pick<Candidate, "id" | "publishers" | "entry" | "variables" | "from">;

/** Deny rules win over allow rules. */
export function trustIn({ allow, deny }: TrustRules, candidate: TrustSubject): Trust {
  const { id, publishers, entry } = candidate;
  const kind = "command" in entry ? REGISTRY_OF_COMMAND[entry.command] : undefined;
  const spellings = (name: string): readonly string[] => (kind ? [name, `${kind}:${name}`] : [name]);
  const denied = (name: string): boolean =>
    deny.some((rule) => rule === "*" || matches(normalized(rule), normalized(name)));
  if ([id, ...publishers.flatMap(spellings)].some(denied)) return "denied";
  const allowed = (name: string): boolean => allow.some((rule) => matches(rule, name));
  if (allowed(id)) return "trusted";
  return publishers.some((name) => spellings(name).some(allowed) && covers(name, candidate))
    ? "trusted"
    : "unknown";
}

/** Some package registries accept several spellings of one name, so a deny rule must match all of them. */
function normalized(name: string): string {
  return name
    .toLowerCase()
    .replace(/^(oci:)?(?:(?:index\.|registry-1\.)?docker\.io\/)(?:library\/)?/, "$1")
    .replaceAll(/[._-]+/g, "-");
}

/** Why a rule is invalid; undefined if it is valid. */
export function flawOf(rule: string, list: keyof TrustRules): string | undefined {
  if (rule === "*") return list === "deny" ? undefined : '"*" is not allowed here: name the publishers';
  const name = rule.endsWith("/*") ? rule.slice(0, -2) : rule;
  if (
    /^(?:(?:npm|pypi|nuget|oci):)?(?!(?:npm|pypi|nuget|oci):)[@\w][\w.~:/-]*$/.test(name) &&
    !name.includes("//")
  )
    return undefined;
  return "write the name of a package or of a registry entry, @scope/* or io.github.name/*";
}

function matches(rule: string, name: string): boolean {
  return rule.endsWith("/*") ? name.startsWith(rule.slice(0, -1)) : rule === name;
}

/** The arguments that a runner needs to run a package. They do not change what the package does. */
const CONTAINERS = new Set(["docker", "podman"]);
const FOR_CONTAINERS = new Set(["run", "-i", "--rm", "-e"]);
const FOR_PACKAGES = new Set(["-y", "--yes"]);
const VARIABLE = /^[A-Za-z_]\w*$/;

/**
 * Whether a rule for the package `name` covers this entry. Trust in a package does not cover the arguments
 * and values that another publisher's registry entry passes to it, because they could make it do anything.
 * Gallery entries are ours.
 */
function covers(name: string, { id, entry, variables, from }: TrustSubject): boolean {
  if (from === "gallery" || id === name) return true;
  if (!("command" in entry)) return false;
  const contained = CONTAINERS.has(entry.command);
  const allowed = contained ? FOR_CONTAINERS : FOR_PACKAGES;
  const declared = (arg: string): boolean =>
    contained && VARIABLE.test(arg) && variables.some((variable) => variable.name === arg);
  const plain = (arg: string): boolean => allowed.has(arg) || declared(arg) || isPackage(arg, name);
  return entry.args.every(plain) && literals(entry).length === 0;
}

/** The package name, alone or with a version in the syntax of any runner. */
function isPackage(arg: string, name: string): boolean {
  return arg === name || (arg.startsWith(name) && /^(?:@|==|:)[\w.+:-]+$/.test(arg.slice(name.length)));
}

function literals({ env = {} }: Extract<Entry, { command: string }>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => (value === `\${${name}}` ? [] : [name]));
}
