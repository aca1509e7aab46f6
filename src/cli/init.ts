/** `metamcp init`: puts MetaMCP into the clients that are installed, and takes it out again. Changes no file without a yes. */
import { realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import type { Client, Own } from "../clients/client.ts";
import { faultOf, installed } from "../clients/client-file.ts";
import { connect, planConnect } from "../clients/connect.ts";
import { OWN_NAME, ownEntry } from "../clients/own.ts";
import { CLIENTS } from "../clients/table.ts";
import { planUndo, undo } from "../clients/undo.ts";
import { configCandidates, pickConfig } from "../config/locate.ts";
import { homeFolder } from "../home/home.ts";
import { VERSION } from "../kernel/version.ts";
import { clientsNamed, machine } from "./clients.ts";
import type { Command, ExitCode } from "./command.ts";
import { canAsk, confirmed } from "./confirm.ts";
import { show } from "./table.ts";

/** One file of one client: what is to be done, then what was done. */
interface Step {
  readonly client: Client;
  readonly file: string;
  readonly state: "change" | "connected" | "gone" | "fault";
  readonly diff?: string;
  readonly message?: string;
}

interface Done {
  readonly client: string;
  readonly file: string;
  readonly result:
    | "connected"
    | "already connected"
    | "undone"
    | "nothing to undo"
    | "declined"
    | "not done"
    | "failed";
  readonly diff?: string;
  readonly problem?: string;
}

const FLAGS = {
  yes: { kind: "switch", env: false, help: "Do not ask." },
  undo: { kind: "switch", env: false, help: "Put the files back as they were." },
} as const;

export const command: Command = {
  name: "init",
  usage: "init [CLIENT …]",
  summary: "Connect the clients that are installed to MetaMCP; --undo disconnects them.",
  flags: FLAGS,
  takes: [0, Number.POSITIVE_INFINITY],
  async run({ settings, positionals }) {
    const options = settings as typeof settings & { yes: boolean; undo: boolean };
    const clients = clientsNamed(positionals);
    const home = homeFolder(process.env);
    const config = await pickConfig(configCandidates(settings.config, process.cwd(), process.env));
    const own = ourselves(config);
    const steps = options.undo ? await planUndo(clients, home) : await planAll(clients, own, config);
    const act = async ({ client, file }: Step): Promise<void> => {
      if (options.undo) await undo(file, home);
      else await connect({ client, file }, own, { home, now: new Date() });
    };
    const done = await runSteps(steps, act, options);
    show(done, options.json, () => forPeople(done, { back: options.undo, asked: positionals, own }));
    return exitCode(done, positionals, options.undo);
  },
};

function ourselves(config: string): Own {
  const { env, execPath, argv } = process;
  return ownEntry({
    node: execPath,
    script: realpathSync(argv[1] ?? ""),
    version: VERSION,
    config,
    home: env["METAMCP_HOME"] ? homeFolder(env) : undefined,
  });
}

async function planAll(clients: readonly Client[], own: Own, config: string): Promise<readonly Step[]> {
  const spots = await installed(clients, machine());
  const ours = await realpath(config).catch(() => config);
  const message = "it is MetaMCP's own config, which a client cannot share; name another one with --config";
  return await Promise.all(
    spots.map(async (spot) =>
      (await realpath(spot.file).catch(() => spot.file)) === ours
        ? { ...spot, state: "fault" as const, message: `${spot.file}: ${message}` }
        : { ...spot, ...(await planConnect(spot, own)) },
    ),
  );
}

interface Options {
  readonly yes: boolean;
  readonly undo: boolean;
  readonly json: boolean;
}

async function runSteps(
  steps: readonly Step[],
  act: (step: Step) => Promise<void>,
  options: Options,
): Promise<readonly Done[]> {
  const done: Done[] = [];
  for (const step of steps) {
    const { client, file, state, diff, message } = step;
    const about = { client: client.id, file, ...(diff ? { diff } : {}) };
    if (state === "connected") done.push({ ...about, result: "already connected" });
    else if (state === "fault") done.push({ ...about, result: "failed", problem: message ?? "" });
    else done.push({ ...about, ...(await decide(step, act, options)) });
  }
  return done;
}

async function decide(
  step: Step,
  act: (step: Step) => Promise<void>,
  { yes, json, undo: back }: Options,
): Promise<Pick<Done, "result" | "problem">> {
  const { client, state, diff } = step;
  if (!json && diff) process.stdout.write(`${client.title}\n${diff}\n\n`);
  if (state === "change" && !yes) {
    if (json || !canAsk) return { result: "not done" };
    if (!(await confirmed(`Change ${step.file}?`))) return { result: "declined" };
  }
  try {
    await act(step);
  } catch (error) {
    return { result: "failed", problem: faultOf(error, step.file) };
  }
  if (!back) return { result: "connected" };
  return { result: state === "gone" ? "nothing to undo" : "undone" };
}

interface Wish {
  readonly back: boolean;
  /** The clients that were named. */
  readonly asked: readonly string[];
  readonly own: Own;
}

function forPeople(done: readonly Done[], wish: Wish): string {
  if (done.length === 0) return nothing(wish);
  const { back } = wish;
  const lines = done.map(
    ({ client, file, result, problem }) => `${client}: ${problem ?? `${result} (${file})`}`,
  );
  if (done.some(({ result }) => result === "connected")) {
    lines.push("", "Restart these clients. `metamcp init --undo` puts the files back as they were.");
  }
  if (done.some(({ result }) => result === "not done")) {
    const again = back ? "metamcp init --undo --yes" : "metamcp init --yes";
    lines.push("", `Nothing was changed, as there is nobody to ask. Say yes beforehand: ${again}`);
  }
  return lines.join("\n");
}

function nothing({ back, asked, own }: Wish): string {
  if (back) return "There is nothing to undo.";
  const which = asked.length > 0 ? asked : CLIENTS.map(({ id }) => id);
  const { command: program, args, env } = own;
  const entry = { command: program, args, ...(Object.keys(env).length > 0 && { env }) };
  return `Not installed here: ${which.join(", ")}.
By hand: most clients take this entry among their servers:

  "${OWN_NAME}": ${JSON.stringify(entry)}`;
}

function exitCode(done: readonly Done[], asked: readonly string[], back: boolean): ExitCode {
  if (done.some(({ result }) => result === "not done")) return 2;
  if (done.some(({ result }) => result === "failed")) return 1;
  return done.length === 0 && asked.length > 0 && !back ? 1 : 0;
}
