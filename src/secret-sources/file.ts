/** `${file:PATH}`: the content of a file, without the line break at its end. */
import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isInside } from "../config/sandbox.ts";
import { codeOf } from "../home/file.ts";
import { SecretUnavailable } from "./unavailable.ts";

const LARGEST = 65_536;

export interface FilePlaces {
  /** The allowed places. Default: all. */
  readonly within?: readonly string[] | undefined;
  /** METAMCP_HOME. */
  readonly home: string;
}

/** Opened before it is checked, and without waiting, so that a pipe in its place blocks nothing. */
export async function secretInFile(path: string, places: FilePlaces): Promise<string> {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const unreadable = (error: unknown): never => {
    const code = codeOf(error);
    const why = code === "ENOENT" ? "does not exist" : `cannot be read (${code ?? "unknown"})`;
    throw new SecretUnavailable(`${path} ${why}`, { cause: error });
  };
  const real = await realpath(path).catch(unreadable);
  await check(path, real, places);
  const file = await open(real, O_RDONLY | O_NONBLOCK | O_NOFOLLOW).catch(unreadable);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new SecretUnavailable(`${path} is not a file`);
    if (found.size > LARGEST) throw new SecretUnavailable(`${path} is larger than ${LARGEST} bytes`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** Whoever can write beside a secret could put a link in its place, for example to the key of the gateway. */
async function check(path: string, real: string, { within, home }: FilePlaces): Promise<void> {
  const realOf = async (place: string): Promise<string> => await realpath(place).catch(() => place);
  if (isInside(real, await realOf(join(home, "gateway"))))
    throw new SecretUnavailable(`${path} is a file of MetaMCP itself`);
  if (!within || within.includes("")) return;
  const allowed = await Promise.all(within.map(realOf));
  if (!allowed.some((place) => isInside(real, place)))
    throw new SecretUnavailable(`${path} leads to ${real}, which an administrator did not allow`);
}
