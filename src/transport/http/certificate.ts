/** Reads the certificate and the key of the HTTPS server from the files that the user named. */
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

/** Throws an error that says which of the two files is wrong. The system's own error does not say it. */
export function certificateOf({ cert, key }: { readonly cert: string; readonly key: string }) {
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
