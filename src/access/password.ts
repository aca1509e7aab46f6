/** Passwords as they are kept: scrypt, with its parameters beside each. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { AccessError } from "./error.ts";

export const LEAST_PASSWORD = 10;
export const MOST_PASSWORD = 1_024;

/** 32 MB and about a tenth of a second each: what a login may cost. */
const COST = { N: 2 ** 15, r: 8, p: 1 } as const;
const SALT = 16;
const LENGTH = 32;
const FORM = /^scrypt:(\d+):(\d+):(\d+):([\w-]+):([\w-]+)$/;

/** So many at once leave threads for everything else; who comes while so many wait is sent away. */
const AT_ONCE = 2;
const MOST_WAITING = 256;

let running = 0;
const waiting: (() => void)[] = [];

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT);
  const hash = await derive(password, salt, COST);
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), hash.toString("base64url")].join(":");
}

/** Takes as long where there is no such account (`stored` is undefined): time does not tell who has one. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, N, r, p, salt, hash] = FORM.exec(stored ?? "") ?? [];
  const cost = hash === undefined ? COST : { N: Number(N), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt ?? "nobody", "base64url"), cost);
  const known = Buffer.from(hash ?? "", "base64url");
  return known.length === derived.length && timingSafeEqual(known, derived);
}

/** The same password typed on another machine may come in other code points. */
async function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  await turn();
  try {
    return await new Promise((resolve, reject) => {
      const options = { ...cost, maxmem: 256 * (cost.N ?? 0) * (cost.r ?? 0) };
      scrypt(password.normalize("NFKC"), salt, LENGTH, options, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

async function turn(): Promise<void> {
  if (running >= AT_ONCE) {
    if (waiting.length >= MOST_WAITING)
      throw new AccessError("busy", "too many logins at once: try again in a moment", 1_000);
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  running += 1;
}
