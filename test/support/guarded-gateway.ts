/** A personal gateway whose only server requires a login, with an issuer of the test's own. */
import { join } from "node:path";
import { type CommandResult, metamcp } from "./command.ts";
import { gateway } from "./gateway.ts";
import { type GuardedChild, guardedChild, type Kind } from "./guarded-child.ts";
import { type Issuer, issuer } from "./issuer.ts";
import { logIn } from "./login.ts";
import { textOf } from "./meta.ts";
import type { RawClient } from "./raw-client.ts";
import { type Temp, temp } from "./temp.ts";

interface GuardedGateway {
  readonly by: Issuer;
  readonly child: GuardedChild;
  readonly folder: Temp;
  /** The output of all processes. */
  readonly written: string[];
  start(): Promise<RawClient>;
  run(...args: string[]): Promise<CommandResult>;
  login(...args: string[]): ReturnType<typeof logIn>;
}

export async function guardedGateway(kind: Kind = "legacy", entry: object = {}): Promise<GuardedGateway> {
  const by = await issuer();
  const child = await guardedChild(by, kind);
  const folder = temp();
  folder.writeConfig({ guarded: { url: child.url, ...(kind === "sse" && { type: "sse" }), ...entry } });
  const written: string[] = [];
  const recorded = <T extends CommandResult>(ended: T): T => {
    written.push(ended.out, ended.err);
    return ended;
  };
  return {
    by,
    child,
    folder,
    written,
    async start() {
      const client = gateway(folder, { flags: ["--log-level", "debug"] });
      await client.initialize();
      return client;
    },
    run: async (...args) => recorded(await metamcp(folder, args)),
    login: async (...args) => recorded(await logIn(folder, "guarded", ...args)),
  };
}

export const tokenFile = (folder: Temp): string => join(folder.home, "oauth/guarded/tokens.json");

export const refreshes = (by: Issuer): number => by.requests("/token", "refresh_token").length;

export const callGuarded = async (client: RawClient, tool = "read"): Promise<string> =>
  textOf(await client.mcpCall("guarded", tool));
