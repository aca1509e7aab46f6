/** Turns the start of a server into the start of a container with the server inside. */
import { type Engine, engineEnvironment } from "../../../config/container-engine.ts";
import { isInside, type Sandbox } from "../../../config/sandbox.ts";
import type { StdioSpec } from "../../../config/spec.ts";
import { revealed } from "../../../kernel/secret.ts";
import { MARK } from "../mark.ts";
import type { Environment } from "../spawn.ts";
import { bridgeTo, PROXY_VARIABLES, SOCKET_INSIDE } from "./bridge.ts";
import type { Mount } from "./bubblewrap.ts";
import { containerArgs, containerEnvironment, isOfEngine, mountable } from "./container.ts";
import { newContainer, sweep } from "./containers.ts";
import { checkScript, type Homes, listedPlaces, unusable } from "./places.ts";
import { scriptPlace } from "./program.ts";

export interface ContainerStart extends Pick<StdioSpec, "command" | "args" | "cwd"> {
  readonly env: Record<string, string>;
  readonly asOurselves: true;
  /** The name of the container. */
  readonly container: string;
  readonly image: string;
  /** The first program of the image that runs in it. */
  readonly program: string;
}

export interface ContainerOptions {
  readonly engine: Engine;
  readonly env: Environment;
  readonly homes: Homes;
  /** Its private folder. */
  readonly folder: string;
  /** The user of the server. Default: our own. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** Of the proxy to its hosts; undefined if it has the whole network, or none. */
  readonly socket: string | undefined;
  /** Our environment. */
  readonly parent: Readonly<Record<string, string | undefined>>;
}

/**
 * The program is that of the image; the script of an interpreter and listed places are those of this machine.
 */
export async function containerStart(
  spec: StdioSpec,
  sandbox: Sandbox & { readonly image: string },
  { engine, env, homes, folder, user = ourselves(), socket, parent }: ContainerOptions,
): Promise<ContainerStart> {
  const { listed, hidden } = await listedPlaces(sandbox, homes);
  const script = await scriptPlace(spec.command, spec, homes);
  checkScript(script, spec, sandbox, homes);
  const shown = (path: string): boolean => listed.some(({ to }) => isInside(path, to));
  const own: Mount[] = [
    ...(script === undefined || shown(script) ? [] : [{ from: script, to: script }]),
    { from: folder, to: folder, writable: true },
    ...(socket === undefined ? [] : [{ from: socket, to: SOCKET_INSIDE, writable: true }]),
  ];
  const odd = [...listed, ...own].find(({ from }) => !mountable(from));
  if (odd)
    throw unusable(`${spec.name}: an engine cannot mount ${odd.from}: use a path without commas and quotes`);
  await sweep(engine);
  const { name, owner } = newContainer();
  const set = revealed(spec.env);
  const isChosen = (key: string): boolean =>
    key in set || key === MARK || (spec.inheritEnv !== true && spec.inheritEnv.includes(key));
  const inside = containerEnvironment(socket === undefined ? env : { ...env, ...PROXY_VARIABLES }, isChosen);
  const words = [...(socket === undefined ? [] : bridgeTo("perl")), spec.command, ...spec.args];
  const passed = Object.entries(inside).filter(([key]) => !isOfEngine(key));
  return {
    command: engine.path,
    args: containerArgs({
      engine: engine.name,
      name,
      owner,
      sandbox,
      user,
      env: inside,
      listed,
      hidden,
      own,
      cwd: shown(spec.cwd) ? spec.cwd : folder,
      words,
    }),
    cwd: "/",
    env: { ...Object.fromEntries(passed), ...engineEnvironment(parent) },
    asOurselves: true,
    container: name,
    image: sandbox.image,
    program: words[0] ?? "",
  };
}

function ourselves(): { readonly uid: number; readonly gid: number } | undefined {
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}
