/**
 * The key that signs our access tokens. It is derived from the secret of the store, so it is the same in
 * every gateway and is never written to a file.
 */
import { createECDH, createHash } from "node:crypto";

export interface SigningKey {
  readonly private: SigningJwk & { readonly d: string };
  readonly public: SigningJwk;
}

export interface SigningJwk {
  readonly kty: "EC";
  readonly crv: "P-256";
  readonly x: string;
  readonly y: string;
  readonly alg: "ES256";
  readonly use: "sig";
  readonly kid: string;
}

const COORDINATE_BYTES = 32;

export function signingKey(derive: (purpose: string) => Buffer): SigningKey {
  const { secret, point } = keyPair(derive);
  // An uncompressed point: one byte, then both coordinates.
  const x = point.subarray(1, 1 + COORDINATE_BYTES).toString("base64url");
  const y = point.subarray(1 + COORDINATE_BYTES).toString("base64url");
  const kid = createHash("sha256").update(point).digest("base64url").slice(0, 22);
  const publicKey: SigningJwk = { kty: "EC", crv: "P-256", x, y, alg: "ES256", use: "sig", kid };
  return { private: { ...publicKey, d: secret.toString("base64url") }, public: publicKey };
}

/** One value in 2^32 is not a valid private key of the curve. Then the next value is used. */
function keyPair(derive: (purpose: string) => Buffer): { readonly secret: Buffer; readonly point: Buffer } {
  for (let attempt = 0; ; attempt += 1) {
    const secret = derive(`oauth-signing-key ${attempt}`);
    const curve = createECDH("prime256v1");
    try {
      curve.setPrivateKey(secret);
      return { secret, point: curve.getPublicKey() };
    } catch (error) {
      if (attempt > 8) throw error;
    }
  }
}
