/**
 * The places that a program needs to run, if they are not part of the system: where it is installed, and the
 * script that an interpreter runs. Read-only.
 */
import { access, constants, realpath, stat } from "node:fs/promises";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { isInside } from "../../../config/sandbox.ts";
import type { StdioSpec } from "../../../config/spec.ts";
import type { Environment } from "../spawn.ts";
import { type Homes, isBundle } from "./places.ts";

const INTERPRETER = /^(node|nodejs|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|java|bash|sh)$/;
const PROGRAM_FOLDER = /^(bin|\.bin|sbin|shims)$/;

/** The absolute path of the command. Undefined if there is no such program. */
export async function findProgram(
  { command, cwd }: Pick<StdioSpec, "command" | "cwd">,
  env: Environment,
): Promise<string | undefined> {
  if (command.includes("/")) return await runnable(resolve(cwd, command));
  for (const folder of (env["PATH"] ?? "").split(delimiter).filter(Boolean)) {
    const found = await runnable(resolve(cwd, folder, command));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function runnable(path: string): Promise<string | undefined> {
  return await access(path, constants.X_OK).then(
    () => path,
    () => undefined,
  );
}

/** Folders of many: nothing in them belongs to one program. */
const SHARED =
  /^\/(?:etc|var|tmp|run|home(?:\/[^/]+)?|root|srv|mnt|media|data|boot|var\/(?:lib|tmp|log|www))?$/;
const OF_SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix", "/gnu"];

export interface ProgramPlaces {
  readonly programs: readonly string[];
  /** The package of the script that an interpreter runs. */
  readonly script: string | undefined;
}

/** `program` is an absolute path. A folder that contains a home is never among the places. */
export async function programPlaces(
  program: string,
  spec: Pick<StdioSpec, "args" | "cwd">,
  homes: Homes,
): Promise<ProgramPlaces> {
  return { programs: await installed(program, homes), script: await scriptPlace(program, spec, homes) };
}

/** The package of the script that an interpreter runs, if it is not part of the system. */
export async function scriptPlace(
  program: string,
  { args, cwd }: Pick<StdioSpec, "args" | "cwd">,
  homes: Homes,
): Promise<string | undefined> {
  const first = INTERPRETER.test(basename(program)) ? args.find((arg) => !arg.startsWith("-")) : undefined;
  const path = first === undefined ? undefined : resolve(cwd, first);
  const script = path !== undefined && (await isFile(path)) ? await packageOf(path, homes) : undefined;
  const isHidden = (place: string): boolean => isInside(place, homes.metamcp) && !isBundle(place, homes);
  return script === undefined || isHidden(script) || isOfSystem(script) ? undefined : script;
}

async function installed(program: string, homes: Homes): Promise<readonly string[]> {
  const folder = dirname(program);
  const isShared = PROGRAM_FOLDER.test(basename(folder)) && !isTooWide(folder, homes);
  const shown = isShared ? folder : program;
  const real = await realpath(program);
  // A virtual environment of Python has its packages beside its programs, and its library beside the real
  // one.
  if (isShared && (await isFile(join(folder, "..", "pyvenv.cfg")))) {
    const base = dirname(dirname(real));
    const places = [dirname(folder), isOfSystem(real) ? dirname(real) : base];
    return places.every((place) => !isTooWide(place, homes)) ? places : [shown, real];
  }
  // The target of a link lies elsewhere: npx links into the package of npm.
  return real === program ? [shown] : [shown, await packageOf(real, homes)];
}

/** The folder with all that a script may import. */
async function packageOf(script: string, homes: Homes): Promise<string> {
  const real = await realpath(script);
  const modules = /^(.*?\/node_modules)\//.exec(real)?.[1];
  if (modules !== undefined && !isTooWide(modules, homes)) return modules;
  for (let folder = dirname(real); !isTooWide(folder, homes); folder = dirname(folder))
    if ((await isFile(join(folder, "package.json"))) || (await isFile(join(folder, "pyproject.toml"))))
      return folder;
  return isTooWide(dirname(real), homes) ? real : dirname(real);
}

function isTooWide(folder: string, homes: Homes): boolean {
  return SHARED.test(folder) || Object.values(homes).some((home: string) => isInside(home, folder));
}

function isOfSystem(path: string): boolean {
  return OF_SYSTEM.some((one) => isInside(path, one));
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
