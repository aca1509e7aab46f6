/** `metamcp auth` with a browser that is the test: the printed address is fetched, and whatever it leads to. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Ended } from "./command.ts";
import { ROOT, type Temp } from "./temp.ts";

export interface LoginUnderWay {
  /** Where it sends the person; rejects if it ends first. */
  readonly address: Promise<URL>;
  readonly ended: Promise<Ended>;
}

export function beginLogin(folder: Temp, args: readonly string[]): LoginUnderWay {
  const child = spawn(process.execPath, [join(ROOT, "dist/metamcp.js"), "auth", "--no-browser", ...args], {
    cwd: folder.path("."),
    env: folder.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk));
  const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, out, err })));
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

export interface LoggedIn extends Ended {
  readonly address: URL;
  /** What the person sees at the end. */
  readonly page: string;
}

/** The whole of it, as a person would who says yes. */
export async function logIn(folder: Temp, ...args: string[]): Promise<LoggedIn> {
  const begun = beginLogin(folder, args);
  const address = await begun.address;
  const page = await (await fetch(address)).text();
  return { ...(await begun.ended), address, page };
}
