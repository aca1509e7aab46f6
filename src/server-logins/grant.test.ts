import fc from "fast-check";
import { expect, test } from "vitest";
import {
  EMPTY_LOGIN_DATA,
  type Grant,
  grantInUse,
  isDue,
  isExpired,
  readLoginData,
  useAccount,
  withGrant,
  withoutGrant,
} from "./grant.ts";

const grant = (more: Partial<Grant> = {}): Grant => ({
  url: "https://s/mcp",
  account: "default",
  id: "1",
  issuer: {
    issuer: "https://i",
    authorization_endpoint: "https://i/a",
    token_endpoint: "https://i/t",
    response_types_supported: ["code"],
  },
  client: { client_id: "c" },
  configured: false,
  accessToken: "a",
  refreshToken: "r",
  scopes: [],
  obtainedAt: 0,
  expiresAt: 3_600_000,
  ...more,
});

test("a token is due for renewal a minute or a fifth of its lifetime before it expires", () => {
  const lives = fc.integer({ min: 1_000, max: 10_000_000 });
  fc.assert(
    fc.property(lives, fc.integer({ min: 0, max: 20_000_000 }), (life, now) => {
      const one = grant({ obtainedAt: 0, expiresAt: life });
      if (isExpired(one, now)) expect(isDue(one, now)).toBe(true);
      if (now < life * 0.8 && now < life - 60_000) expect(isDue(one, now)).toBe(false);
      if (now >= life - Math.min(60_000, life / 5)) expect(isDue(one, now)).toBe(true);
      expect(isDue({ ...one, expiresAt: undefined }, now)).toBe(false);
    }),
  );
});

test("login data has one grant per account and address, and a removed grant is not in use", () => {
  const loginData = useAccount(
    withGrant(withGrant(EMPTY_LOGIN_DATA, grant()), grant({ accessToken: "b" })),
    "https://s/mcp",
    "default",
  );
  expect(loginData.grants).toHaveLength(1);
  expect(grantInUse(loginData, "https://s/mcp")?.accessToken).toBe("b");
  expect(grantInUse(loginData, "https://s/other")).toBeUndefined();
  const elsewhere = useAccount(
    withGrant(loginData, grant({ url: "https://s/other", accessToken: "o" })),
    "https://s/other",
    "default",
  );
  expect(grantInUse(elsewhere, "https://s/mcp")?.accessToken).toBe("b");
  expect(grantInUse(elsewhere, "https://s/other")?.accessToken).toBe("o");
  expect(grantInUse(loginData, "__proto__")).toBeUndefined();

  const registered = {
    ...loginData,
    registrations: [
      { issuer: "https://i", redirectUri: "http://127.0.0.1:1/callback", client: { client_id: "c" } },
    ],
  };
  const both = withGrant(registered, grant({ account: "work" }));
  expect(withoutGrant(both, grant())).toMatchObject({
    use: {},
    grants: [{ account: "work" }],
    registrations: [{}],
  });
  expect(withoutGrant(registered, grant())).toEqual(EMPTY_LOGIN_DATA);
});

test("readLoginData accepts written login data and rejects anything else", () => {
  const loginData = useAccount(withGrant(EMPTY_LOGIN_DATA, grant()), "https://s/mcp", "default");
  expect(readLoginData(JSON.parse(JSON.stringify(loginData)))).toEqual(loginData);
  for (const value of [
    undefined,
    null,
    [],
    {},
    { ...loginData, version: 2 },
    { ...loginData, use: { a: 1 } },
  ])
    expect(readLoginData(value)).toBeUndefined();
  for (const key of ["url", "account", "id", "accessToken", "issuer", "client", "scopes", "obtainedAt"])
    expect(readLoginData({ ...loginData, grants: [{ ...grant(), [key]: undefined }] })).toBeUndefined();
  expect(readLoginData({ ...loginData, registrations: [{ issuer: "x" }] })).toBeUndefined();
});
