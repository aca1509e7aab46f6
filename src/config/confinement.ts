/** Reads what the entry of a local server, with the rules of an administrator, lets it touch. */
import type { EntryContext } from "./entry-context.ts";
import type { Keys, Path } from "./field.ts";
import type { Resolver } from "./resolver.ts";
import { beyondFloor, isInside, ownFolder, readSandbox, type Sandbox } from "./sandbox.ts";
import type { StdioSpec } from "./spec.ts";

export function readConfinement(
  entry: Keys,
  cwd: string,
  context: EntryContext,
  resolver: Resolver,
): Pick<StdioSpec, "sandbox"> {
  const { folder, env, sandbox: rules, cannotConfine } = context;
  const { findings } = resolver;
  const before = findings.faults.length;
  const replaced = { env, folder, resolve: (text: string, path: Path) => resolver.resolvePlain(text, path) };
  const floor = readSandbox(rules?.floor, "sandbox", { env, folder }, findings);
  const preset = rules?.default ?? rules?.floor;
  const own = entry["sandbox"];
  const found =
    own === undefined
      ? readSandbox(preset, "sandbox", { env, folder }, findings)
      : readSandbox(own, "sandbox", replaced, findings);
  if (findings.faults.length > before) return {};
  const beyond = floor && beyondFloor(found, floor);
  if (beyond !== undefined)
    findings.fault(
      ["sandbox"],
      `it may touch more than an administrator allows any server (${beyond}): narrow its "sandbox", or remove it to get the sandbox of the settings`,
    );
  const reason = found && resolver.complete ? cannotConfine?.(found) : undefined;
  if (reason !== undefined) findings.fault(["sandbox"], reason);
  if (!found) return {};
  if (resolver.referring.some(({ path }) => path[0] === "cwd"))
    findings.fault(["cwd"], "cwd cannot be a reference to a secret with a sandbox: write the folder");
  const working = workingFolder(entry["cwd"] !== undefined, cwd, floor, context);
  const writable = working === undefined ? found.write : [working, ...found.write];
  const holder = context.isGuarded ? undefined : writable.find((one) => isInside(context.path, one));
  if (holder !== undefined)
    findings.fault(
      ["sandbox"],
      `it may write to ${holder}, where ${context.path} is, and so could end its own sandbox: list single folders in "write", or move that file`,
    );
  return {
    sandbox: {
      ...found,
      ...(working !== undefined && { folder: working }),
      ...(floor && { within: [...floor.read, ...floor.write] }),
    },
  };
}

/** The working folder, if the server may write to it without being listed. */
function workingFolder(
  isNamed: boolean,
  cwd: string,
  floor: Sandbox | undefined,
  { path, isGuarded, folderOfGateway, env }: EntryContext,
): string | undefined {
  // Nobody thought of a server when the folder of a gateway, or of a file that needs no permission, was
  // chosen.
  if (!isNamed && (folderOfGateway || (!isGuarded && isInside(path, cwd)))) return undefined;
  const folder = ownFolder(cwd, env);
  if (folder === undefined || !floor) return folder;
  return floor.write.some((one) => isInside(folder, one)) ? folder : undefined;
}
