/** Runs `metamcp auth` and opens the printed address with fetch instead of a browser. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import type { CommandResult } from "./command.ts";
import { atEnd } from "./shared.ts";
import { ROOT, type Temp } from "./temp.ts";

export interface PendingLogin {
  /** The printed address. Rejects if the command ends first. */
  readonly address: Promise<URL>;
  readonly ended: Promise<CommandResult>;
}

export function beginLogin(folder: Temp, args: readonly string[]): PendingLogin {
  const child = spawn(process.execPath, [join(ROOT, "dist/metamcp.js"), "auth", "--no-browser", ...args], {
    cwd: folder.path("."),
    env: folder.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  atEnd(() => void child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk));
  const ended = new Promise<CommandResult>((resolve) =>
    child.once("close", (code) => resolve({ code, out, err })),
  );
  const address = new Promise<URL>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      err += chunk;
      const printed = /https?:\/\/\S+\/authorize\?\S+(?=\s)/.exec(err)?.[0];
      if (printed) resolve(new URL(printed));
    });
    void ended.then(({ code }) =>
      reject(new Error(`ended with ${code} before it printed an address: ${err}`)),
    );
  });
  address.catch(() => {});
  return { address, ended };
}

export interface LoginResult extends CommandResult {
  readonly address: URL;
  /** The last page. */
  readonly page: string;
}

/** A complete login with consent. */
export async function logIn(folder: Temp, ...args: string[]): Promise<LoginResult> {
  const pending = beginLogin(folder, args);
  const address = await pending.address;
  const page = await (await fetch(address)).text();
  return { ...(await pending.ended), address, page };
}
