/** `metamcp serve`: runs the gateway of a team until a signal arrives. */
import type { EventEmitter } from "node:events";
import { setTimeout } from "node:timers/promises";
import { SERVE_FLAGS } from "../config/gateway-flags.ts";
import { type Env, homeFolder } from "../home/home.ts";
import { openBrowser } from "./browser.ts";
import type { Command, ExitCode } from "./command.ts";
import { refuseInspection } from "./hide-environment.ts";
import { createLog } from "./log.ts";
import { type GivenToServe, openGateway } from "./open-gateway.ts";
import { clearOrphans, stopSignal } from "./process.ts";
import { drainOf } from "./serve-settings.ts";

export const command: Command = {
  name: "serve",
  usage: "serve [flags]",
  summary: "Start a gateway for a team: servers, namespaces and endpoints over HTTP.",
  flags: SERVE_FLAGS,
  takes: [0, 0],
  run: (given, env) => run(given as unknown as GivenToServe, env),
};

async function run(given: GivenToServe, env: Env): Promise<ExitCode> {
  const { settings } = given;
  refuseInspection();
  const log = createLog({ level: settings.logLevel, file: settings.logFile });
  const around = { env, inherited: process.env, folder: process.cwd(), log };
  const { gateway, childUser } = await openGateway(given, around);
  process.once("exit", () => gateway.killNow());
  const reload = (): void => {
    log.reopen();
    log.info("SIGHUP: reading the certificate again");
    gateway.reload();
  };
  const stopped = stopSignal(reload);
  void clearOrphans(log, homeFolder(env), childUser);
  try {
    const url = await gateway.listen();
    const link = await gateway.setupLink();
    // One write, so that a reader gets both lines together.
    process.stderr.write(greeting(url, link));
    (process as EventEmitter).emit("metamcp:gateway");
    if (settings.open) openBrowser(new URL(link ?? settings.publicUrl ?? url));
    await stopped;
    gateway.drain();
    // A second signal ends the pause.
    const { drain } = drainOf(settings);
    if (drain > 0) await Promise.race([setTimeout(drain), stopSignal(reload)]);
  } finally {
    await gateway.close();
  }
  return 0;
}

/** People and scripts read these lines, so they do not depend on the log level. */
export function greeting(url: string, link: string | undefined): string {
  return `${url}\n${link ? `Open this link within 24 hours to create the first administrator: ${link}\n` : ""}`;
}
