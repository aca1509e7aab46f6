/**
 * Finds variables that a server needs and does not get, and how to run it by hand with what it really gets.
 * Shows no values.
 */
import { childEnvironment } from "../child/stdio/environment.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { StdioSpec } from "../config/spec.ts";
import type { Env } from "../home/home.ts";
import type { Candidate } from "../provision/candidate.ts";

const NAME = /\b[A-Z][A-Z0-9_]{2,}\b/g;
/** As a shell writes it, for example in `sh -c "node x.js $TOKEN"`. */
const REFERENCE = /(?<=\$\{?)[A-Z][A-Z0-9_]{2,}\b/g;

/** One line for each way to give the server what it lacks. `output` is what it printed. */
export function variableAdvice(
  spec: StdioSpec,
  {
    output,
    env,
    known,
  }: { readonly output: string; readonly env: Env; readonly known: readonly Candidate[] },
): readonly string[] {
  const gets = childEnvironment(spec, env, process.platform);
  const lacks = (name: string): boolean => gets[name] === undefined;
  const mentioned = [...(output.match(NAME) ?? []), ...(spec.args.join("\n").match(REFERENCE) ?? [])];
  const wanted = [...new Set([...mentioned, ...requiredBy(spec, known)])].filter(lacks);
  const here = wanted.filter((name) => env[name] !== undefined);
  const nowhere = requiredBy(spec, known).filter((name) => lacks(name) && env[name] === undefined);
  const inherited = [...(spec.inheritEnv === true ? [] : spec.inheritEnv), ...here];
  return [
    ...(here.length > 0
      ? [
          `${here.join(", ")} is set here, but the server does not get it. Add to its entry: "inheritEnv": ${JSON.stringify(inherited)}`,
        ]
      : []),
    ...(nowhere.length > 0
      ? [
          `It needs ${nowhere.join(", ")}. Add to its entry: "env": { ${nowhere.map((name) => `"${name}": "…"`).join(", ")} }`,
        ]
      : []),
  ];
}

/**
 * The variables that an entry of a client needs and does not set. The client may have passed them on from its
 * own environment.
 */
export function unsetVariables(entry: Keys, known: readonly Candidate[]): readonly string[] {
  const { args, env, inheritEnv } = entry;
  if (!Array.isArray(args) || inheritEnv === true) return [];
  const words = args.filter((arg) => typeof arg === "string");
  const given = [...Object.keys(isKeys(env) ? env : {}), ...(Array.isArray(inheritEnv) ? inheritEnv : [])];
  // docker passes on variables that its arguments name.
  return requiredBy({ args: words }, known).filter(
    (name) => ![...given, ...words].some((word) => word === name || String(word).startsWith(`${name}=`)),
  );
}

/** The variables that the gallery's entry of the same package requires. */
function requiredBy({ args }: Pick<StdioSpec, "args">, known: readonly Candidate[]): readonly string[] {
  const isSame = ({ entry, publishers: [identifier = ""] }: Candidate): boolean =>
    "command" in entry &&
    identifier !== "" &&
    args.some((arg) => arg === identifier || arg.startsWith(`${identifier}@`));
  const [same] = known.filter(isSame);
  if (!same || !("command" in same.entry)) return [];
  // A variable may have another name in the environment of the server, or be an argument.
  const names = Object.entries(same.entry.env ?? {}).map(([name, value]) => ({ name, value }));
  return same.variables
    .filter(({ required }) => required)
    .flatMap((variable) =>
      names.filter(({ value }) => value === `\${${variable.name}}`).map(({ name }) => name),
    );
}

/** The beginning of a command that runs with exactly the variables that the server gets. */
export function bareEnvironment(spec: StdioSpec, env: Env): string {
  const own = new Set(Object.keys(spec.env));
  const shared = Object.keys(childEnvironment({ ...spec, env: {} }, env, process.platform)).filter(
    (name) => !own.has(name),
  );
  return [
    "env -i",
    ...shared.map((name) => `${name}="$${name}"`),
    ...[...own].map((name) => `${name}=…`),
  ].join(" ");
}
