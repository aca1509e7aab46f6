import { expect, test } from "vitest";
import { issuerKeys } from "./issuer-keys.ts";

const HEADER = { alg: "RS256", kid: "one" };

function fetchKeys(issuer: string, keys: unknown, jwksUri?: string) {
  const fetched: string[] = [];
  const keyOf = issuerKeys(
    { issuer, algorithms: ["RS256"], ...(jwksUri === undefined ? {} : { jwksUri }) },
    {
      fetch(url) {
        fetched.push(url);
        return Promise.resolve(
          Response.json(url.includes("well-known") ? { issuer, jwks_uri: keys } : { keys: [] }),
        );
      },
    },
  );
  const fault = Promise.resolve(keyOf(HEADER, {} as never)).catch((error: Error) => error.message);
  return { fetched, fault };
}

test.each([
  "http://127.0.0.1:9/keys",
  "https://localhost/keys",
  "https://10.0.0.1/keys",
  "http://169.254.169.254/latest",
  "http://idp.test/keys",
  "file:///etc/passwd",
  "keys",
  7,
])("a public issuer cannot make the gateway fetch keys from %s", async (keys) => {
  const { fetched, fault } = fetchKeys("https://idp.test", keys);
  expect(await fault).toMatch(/cannot get the keys of https:\/\/idp.test/);
  expect(fetched.every((url) => url.startsWith("https://idp.test/"))).toBe(true);
});

test.each([
  ["https://idp.test", "https://keys.test/jwks", undefined],
  ["http://127.0.0.1:1", "http://127.0.0.1:2/jwks", undefined],
  ["http://idp.intranet", "http://idp.intranet/jwks", undefined],
  ["https://idp.test", "unused", "http://10.0.0.1/jwks"],
])(
  "keys of %s are fetched from its jwks_uri %s, or from the configured jwksUri %s",
  async (issuer, keys, jwksUri) => {
    const { fetched, fault } = fetchKeys(issuer, keys, jwksUri);
    expect(await fault).toMatch(/no applicable key/i);
    expect(fetched.at(-1)).toBe(jwksUri ?? keys);
  },
);
