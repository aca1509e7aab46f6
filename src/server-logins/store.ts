/**
 * Stores the tokens of one server on disk, in `oauth/<server>/tokens.json` in METAMCP_HOME, readable only by
 * the owner.
 */
import { chmodSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, readIfThere, writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { safeName } from "../home/safe-name.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { EMPTY_LOGIN_DATA, type LoginData, readLoginData } from "./grant.ts";

/** Long, because the lock is held while an issuer renews a token. */
const LOCK_MS = 45_000;

/** Login data, and the stamp of the file with exactly this content. */
export interface StampedLoginData {
  readonly loginData: LoginData;
  readonly stamp: string;
}

/** Stores the login data of one server. */
export interface LoginDataStore {
  /** Changes whenever the login data changes. Cheap enough to call before every request. */
  stamp(): string;
  /** Rejects with a message for users if the stored data is invalid. */
  read(): Promise<LoginData>;
  /**
   * Changes the login data under a lock. `change` may be slow; if it returns the same object, nothing is
   * written.
   */
  update(change: (loginData: LoginData) => LoginData | Promise<LoginData>): Promise<StampedLoginData>;
}

export class TokenStore implements LoginDataStore {
  readonly path: string;
  readonly #server: string;

  constructor(home: string, server: string) {
    this.#server = server;
    this.path = join(home, "oauth", safeName(server), "tokens.json");
  }

  stamp(): string {
    try {
      const seen = statSync(this.path, { throwIfNoEntry: false });
      return seen ? `${seen.ino} ${seen.mtimeMs} ${seen.size}` : "";
    } catch (error) {
      return codeOf(error) ?? "";
    }
  }

  async read(): Promise<LoginData> {
    const text = await this.#text();
    if (text === undefined) return EMPTY_LOGIN_DATA;
    const loginData = readLoginData(parsed(text));
    if (loginData) return loginData;
    throw this.#unusable("has unexpected content");
  }

  async update(change: (loginData: LoginData) => LoginData | Promise<LoginData>): Promise<StampedLoginData> {
    return await this.#locked(async () => {
      const before = await this.read();
      const loginData = await change(before);
      if (loginData !== before) await this.#write(loginData);
      return { loginData, stamp: this.stamp() };
    });
  }

  /** Like `update`, but starts with empty login data if the stored data is invalid. */
  async begin(change: (loginData: LoginData) => LoginData): Promise<void> {
    await this.#locked(async () => {
      const before = await this.read().catch(() => EMPTY_LOGIN_DATA);
      await this.#write(change(before));
    });
  }

  async #locked<T>(run: () => Promise<T>): Promise<T> {
    return await withLock(this.path, run, { timeoutMs: LOCK_MS });
  }

  async #write(loginData: LoginData): Promise<void> {
    await writeAtomic(this.path, `${JSON.stringify(loginData, undefined, 2)}\n`);
    // Existing folders may have wider permissions.
    for (const folder of [dirname(this.path), dirname(dirname(this.path))]) chmodSync(folder, 0o700);
  }

  async #text(): Promise<string | undefined> {
    try {
      return await readIfThere(this.path);
    } catch (error) {
      throw this.#unusable(`cannot be read (${codeOf(error) ?? "unknown reason"})`);
    }
  }

  #unusable(why: string): MetaMcpError {
    return new MetaMcpError("auth_required", `the token file ${this.path} ${why}; a new login replaces it`, {
      server: this.#server,
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
