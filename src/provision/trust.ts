/** Whose servers may be started without asking. Judges names only; the file they stand in is trust-file.ts. */
import type { Candidate, Entry } from "./candidate.ts";

export type Trust = "trusted" | "denied" | "unknown";

export interface TrustRules {
  /** Names of packages and of registry entries, or all of one publisher: `@scope/*`, `io.github.name/*`. `pypi:name` means a package of one kind. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

const KINDS: Readonly<Record<string, string>> = {
  npx: "npm",
  uvx: "pypi",
  dnx: "nuget",
  docker: "oci",
  podman: "oci",
};

export type Judged = Pick<Candidate, "id" | "publishers" | "entry" | "variables" | "from">;

/** Deny wins. */
export function trustIn({ allow, deny }: TrustRules, candidate: Judged): Trust {
  const { id, publishers, entry } = candidate;
  const kind = "command" in entry ? KINDS[entry.command] : undefined;
  const called = (name: string): readonly string[] => (kind ? [name, `${kind}:${name}`] : [name]);
  const denied = (name: string): boolean =>
    deny.some((rule) => rule === "*" || matches(spelled(rule), spelled(name)));
  if ([id, ...publishers.flatMap(called)].some(denied)) return "denied";
  const allowed = (name: string): boolean => allow.some((rule) => matches(rule, name));
  if (allowed(id)) return "trusted";
  return publishers.some((name) => called(name).some(allowed) && standsFor(name, candidate))
    ? "trusted"
    : "unknown";
}

/** Some registries of packages take several spellings for one name: who denies it means them all. */
function spelled(name: string): string {
  return name
    .toLowerCase()
    .replace(/^(oci:)?(?:(?:index\.|registry-1\.)?docker\.io\/)(?:library\/)?/, "$1")
    .replaceAll(/[._-]+/g, "-");
}

/** What is wrong with a rule; undefined if it can be used. */
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

/** What runners need to run a package, and what makes it do nothing else. */
const CONTAINERS = new Set(["docker", "podman"]);
const FOR_CONTAINERS = new Set(["run", "-i", "--rm", "-e"]);
const FOR_PACKAGES = new Set(["-y", "--yes"]);
const VARIABLE = /^[A-Za-z_]\w*$/;

/**
 * Who trusts a package trusts what it does by itself. A stranger's entry that hands it arguments or values of its own
 * could have it do anything, so that is not covered. In the gallery the entries are ours.
 */
function standsFor(name: string, { id, entry, variables, from }: Judged): boolean {
  if (from === "gallery" || id === name) return true;
  if (!("command" in entry)) return false;
  const contained = CONTAINERS.has(entry.command);
  const own = contained ? FOR_CONTAINERS : FOR_PACKAGES;
  const declared = (arg: string): boolean =>
    contained && VARIABLE.test(arg) && variables.some((variable) => variable.name === arg);
  const plain = (arg: string): boolean => own.has(arg) || declared(arg) || isPackage(arg, name);
  return entry.args.every(plain) && literals(entry).length === 0;
}

/** With or without a version, as each runner writes it. */
function isPackage(arg: string, name: string): boolean {
  return arg === name || (arg.startsWith(name) && /^(?:@|==|:)[\w.+:-]+$/.test(arg.slice(name.length)));
}

function literals({ env = {} }: Extract<Entry, { command: string }>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => (value === `\${${name}}` ? [] : [name]));
}
