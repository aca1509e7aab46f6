/** Password hashes: scrypt, stored with its parameters. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { AccessError } from "./error.ts";

export const LEAST_PASSWORD = 10;
export const MAX_PASSWORD = 1_024;

/** The cost of one login: 32 MB and about a tenth of a second. */
const COST = { N: 2 ** 15, r: 8, p: 1 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const STORED_FORM = /^scrypt:(\d+):(\d+):(\d+):([\w-]+):([\w-]+)$/;

/** Two at a time leave threads of the pool for other work. With 256 waiting, further logins are refused. */
const AT_ONCE = 2;
const MAX_WAITING = 256;

let running = 0;
const waiting: (() => void)[] = [];

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST);
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), hash.toString("base64url")].join(":");
}

/**
 * Takes the same time if there is no such account (`stored` is undefined), so that the duration does not
 * reveal accounts.
 */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, N, r, p, salt, hash] = STORED_FORM.exec(stored ?? "") ?? [];
  const cost = hash === undefined ? COST : { N: Number(N), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt ?? "nobody", "base64url"), cost);
  const known = Buffer.from(hash ?? "", "base64url");
  return known.length === derived.length && timingSafeEqual(known, derived);
}

/** Normalizes the password, because other machines may send the same characters as other code points. */
async function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  await acquireSlot();
  try {
    return await new Promise((resolve, reject) => {
      const options = { ...cost, maxmem: 256 * (cost.N ?? 0) * (cost.r ?? 0) };
      scrypt(password.normalize("NFKC"), salt, HASH_BYTES, options, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

async function acquireSlot(): Promise<void> {
  if (running >= AT_ONCE) {
    if (waiting.length >= MAX_WAITING)
      throw new AccessError("busy", "too many logins at once: try again in a moment", 1_000);
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  running += 1;
}
