/**
 * Reads the certificate and the key of the HTTPS server from the files that the user named, again when they
 * change.
 */
import { readFileSync, statSync } from "node:fs";
import type { Server } from "node:https";
import { createSecureContext } from "node:tls";
import type { Log } from "../../kernel/log.ts";

interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** Throws an error that says which of the two files is wrong. The system's own error does not say it. */
export function certificateOf({ cert, key }: CertificateFiles) {
  const read = (what: string, path: string): Buffer => {
    try {
      return readFileSync(path);
    } catch (error) {
      throw new Error(`The ${what} cannot be read: ${(error as Error).message}`);
    }
  };
  const pem = { cert: read("TLS certificate", cert), key: read("TLS key", key) };
  try {
    createSecureContext(pem);
  } catch (error) {
    throw new Error(
      `${cert} and ${key} are not a certificate and its key in PEM format: ${(error as Error).message}`,
    );
  }
  return pem;
}

const POLL_MS = 2_000;

/**
 * Uses a new certificate for new connections; open ones keep theirs. Files that cannot be used are reported
 * once, and the old certificate stays. Polls, because events are lost on network volumes and behind the links
 * of mounted secrets.
 */
export class ReloadedCertificate {
  readonly #server: Server;
  readonly #files: CertificateFiles;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #used: string;
  #seen: string;

  constructor(server: Server, files: CertificateFiles, log: Log) {
    this.#server = server;
    this.#files = files;
    this.#log = log;
    this.#used = this.#seen = stampOf(files);
    this.#timer = setInterval(() => this.#poll(), POLL_MS).unref();
    server.once("close", () => clearInterval(this.#timer));
  }

  reload(): void {
    this.#used = this.#seen = stampOf(this.#files);
    try {
      this.#server.setSecureContext({ ...certificateOf(this.#files), minVersion: "TLSv1.2" });
      this.#log.info("the TLS certificate was read again");
    } catch (error) {
      this.#log.error(
        `the TLS certificate was not changed, the old one stays in use: ${(error as Error).message}`,
      );
    }
  }

  /** Waits until the files stay the same, because the two are not replaced at the same moment. */
  #poll(): void {
    const stamp = stampOf(this.#files);
    if (stamp !== this.#used && stamp === this.#seen) this.reload();
    this.#seen = stamp;
  }
}

function stampOf({ cert, key }: CertificateFiles): string {
  const stamps = [cert, key].map((path) => {
    // A folder on the way may be unreadable for a moment; that counts as absent.
    try {
      const { ino, size, mtimeMs } = statSync(path);
      return `${ino} ${size} ${mtimeMs}`;
    } catch {
      return "absent";
    }
  });
  return stamps.join("\n");
}
