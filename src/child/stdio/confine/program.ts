/**
 * The places that a program needs to run, if they are not part of the system: where it is installed, and the
 * script that an interpreter runs. Read-only.
 */
import { access, constants, realpath, stat } from "node:fs/promises";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { isInside } from "../../../config/sandbox.ts";
import type { StdioSpec } from "../../../config/spec.ts";
import type { Environment } from "../spawn.ts";

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

/** `program` is an absolute path. A folder that contains one of `homes` is never among the places. */
export async function programPlaces(
  program: string,
  { args, cwd }: Pick<StdioSpec, "args" | "cwd">,
  homes: readonly string[],
): Promise<readonly string[]> {
  const places = [await installed(program, homes)];
  const script = INTERPRETER.test(basename(program)) ? args.find((arg) => !arg.startsWith("-")) : undefined;
  if (script !== undefined) {
    const path = resolve(cwd, script);
    if (await isFile(path)) places.push([await packageOf(path, homes)]);
  }
  return [...new Set(places.flat())];
}

async function installed(program: string, homes: readonly string[]): Promise<readonly string[]> {
  const folder = dirname(program);
  const isShared = PROGRAM_FOLDER.test(basename(folder));
  const shown = isShared ? folder : program;
  const real = await realpath(program);
  // A virtual environment of Python has its packages beside its programs.
  if (isShared && (await isFile(join(folder, "..", "pyvenv.cfg")))) return [dirname(folder), dirname(real)];
  // The target of a link lies elsewhere: npx links into the package of npm.
  return real === program ? [shown] : [shown, await packageOf(real, homes)];
}

/** The folder with all that a script may import. */
async function packageOf(script: string, homes: readonly string[]): Promise<string> {
  const real = await realpath(script);
  const modules = /^(.*?\/node_modules)\//.exec(real)?.[1];
  if (modules !== undefined) return modules;
  const isTooWide = (folder: string): boolean => homes.some((home) => isInside(home, folder));
  for (let folder = dirname(real); !isTooWide(folder) && folder !== "/"; folder = dirname(folder))
    if ((await isFile(join(folder, "package.json"))) || (await isFile(join(folder, "pyproject.toml"))))
      return folder;
  return isTooWide(dirname(real)) ? real : dirname(real);
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
