/**
 * Machine clients: API keys that are OAuth clients. They get tokens for themselves (`client_credentials`) and
 * prove themselves with signatures by their keys, or without keys with a secret, the text of the API key.
 */
import { named, object, type Static } from "../kernel/json-schema.ts";

/** Only public members of a key, so that nobody hands over a private one. */
const PUBLIC_KEY = {
  type: "object",
  properties: {
    kty: { enum: ["RSA", "EC", "OKP"] },
    key_ops: { type: "array", items: { const: "verify" }, maxItems: 1 },
    ext: { type: "boolean" },
    kid: { type: "string", maxLength: 256 },
    use: { const: "sig" },
    alg: { enum: ["RS256", "ES256", "EdDSA"] },
    crv: { enum: ["P-256", "Ed25519"] },
    x: { type: "string", maxLength: 128 },
    y: { type: "string", maxLength: 128 },
    n: { type: "string", minLength: 342, maxLength: 1_400 },
    e: { type: "string", maxLength: 8 },
  },
  required: ["kty"],
  additionalProperties: false,
} as const;

export const MACHINE = named("MachineClient", {
  ...object(
    {},
    {
      jwks: {
        ...object({ keys: { type: "array", items: PUBLIC_KEY, minItems: 1, maxItems: 10 } }),
        description: "its public keys: it proves itself with signatures by them (private_key_jwt)",
      },
      jwksUri: {
        type: "string",
        minLength: 1,
        maxLength: 2_048,
        description: "where its public keys are: https, at a public address",
      },
    },
  ),
  description:
    "an OAuth client that gets tokens for itself (client_credentials). Its client id is the uuid of the key; " +
    "without jwks and jwksUri the key is its client secret",
} as const);

export type MachineClient = Static<typeof MACHINE>;

/** Whether a machine client signs instead of showing a secret. */
export function signs({ jwks, jwksUri }: MachineClient): boolean {
  return jwks !== undefined || jwksUri !== undefined;
}
