/**
 * Finds masks of a changed server that would send a stored secret to another address or program. Otherwise
 * whoever writes a document could send secrets away that they do not know. Pure.
 */
import { type FieldProblem, pointer } from "../kernel/field-problem.ts";
import { isRunnerVariable } from "../kernel/runner-variables.ts";
import type { StoredObject, StoredServer, StoredText } from "./objects.ts";
import { ADDRESS_FIELDS, mapTexts, shownText } from "./secret-texts.ts";
import { MASK, mapSecrets } from "./secrets.ts";

type Fields = Readonly<Record<string, unknown>>;

const OTHER_ADDRESS = "belongs to another address: enter the value again";
const OTHER_PROGRAM = "belongs to another program: enter the value again";

/**
 * `spec` has the fields as they were sent, with masks. `sealed` has the secrets to store, where an unchanged
 * one is the stored one itself.
 */
export function movedSecrets(
  spec: Fields,
  sealed: Fields,
  stored: StoredObject<"server"> | undefined,
): readonly FieldProblem[] {
  if (!stored) return [];
  const [after, before] = [sealed as unknown as StoredServer, stored.spec];
  if (ADDRESS_FIELDS.some((name) => after[name] !== undefined)) {
    const isSame = ADDRESS_FIELDS.every((name) => addressOf(after[name]) === addressOf(before[name]));
    return isSame ? [] : masked(spec, OTHER_ADDRESS);
  }
  return programOf(after) === programOf(before) && sameRunner(after, before)
    ? []
    : masked(spec, OTHER_PROGRAM);
}

/**
 * A server has either `headers`, `oauth` and addresses, or `env` and `args`. A masked address is refused
 * elsewhere, because its text differs.
 */
function masked(spec: Fields, message: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  mapSecrets(spec, (sent, path) => {
    if (sent === MASK) problems.push({ path: pointer("", ...path), message });
    return sent;
  });
  mapTexts(spec, (sent, _previous, path) => {
    if (path[0] === "args" && typeof sent === "string" && sent.includes(MASK))
      problems.push({ path: pointer("", ...path), message });
    return sent;
  });
  return problems;
}

/** As written, with the host in lower case. On a shared host path and query decide who gets the secret. */
function addressOf(url: StoredText | undefined): string | undefined {
  return url && shownText(url).replace(/^[^:/?#]*:\/\/[^/?#\\$]*/, (origin) => origin.toLowerCase());
}

/**
 * What runs. All arguments count, because any can name a script, an image or an address; only MetaMCP's own
 * masks and the version of a package do not.
 */
function programOf({ command, args = [], cwd }: StoredServer): string {
  const shown = args.map((arg, at) => shownText(arg, args[at - 1]));
  return JSON.stringify([command, cwd, withoutVersion(command, shown)]);
}

const PACKAGE_RUNNER = /(?:^|[\\/])(?:npx|bunx|pnpx|uvx)(?:\.\w+)?$/;
/**
 * An exact version or `latest`. Anything else can name another source, such as `@npm:other` or `@https:…`.
 */
const VERSION = /(?<=[^@])(?:@|==)(?:v?\d+(?:\.\d+){0,2}(?:[-+][\w.+-]+)?|latest)$/;

/** The first argument that is not an option is the package. */
function withoutVersion(command: string | undefined, args: readonly string[]): readonly string[] {
  if (command === undefined || !PACKAGE_RUNNER.test(command)) return args;
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  return args.map((arg, index) => (index === at ? arg.replace(VERSION, "") : arg));
}

/** Whether the variables that decide which code runs are the same. */
function sameRunner({ env: after = {} }: StoredServer, { env: before = {} }: StoredServer): boolean {
  const names = Object.keys({ ...after, ...before }).filter(isRunnerVariable);
  return names.every((name) => after[name] === before[name]);
}
