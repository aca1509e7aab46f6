import fc from "fast-check";
import { expect, test } from "vitest";
import {
  EMPTY_BOOK,
  type Grant,
  grantInUse,
  isDue,
  isExpired,
  readBook,
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
      expect(isDue({ ...one, refreshToken: undefined }, now)).toBe(false);
      expect(isDue({ ...one, expiresAt: undefined }, now)).toBe(false);
    }),
  );
});

test("a book has one grant per account and address, and a removed grant is not in use", () => {
  const book = useAccount(
    withGrant(withGrant(EMPTY_BOOK, grant()), grant({ accessToken: "b" })),
    "https://s/mcp",
    "default",
  );
  expect(book.grants).toHaveLength(1);
  expect(grantInUse(book, "https://s/mcp")?.accessToken).toBe("b");
  expect(grantInUse(book, "https://s/other")).toBeUndefined();
  const elsewhere = useAccount(
    withGrant(book, grant({ url: "https://s/other", accessToken: "o" })),
    "https://s/other",
    "default",
  );
  expect(grantInUse(elsewhere, "https://s/mcp")?.accessToken).toBe("b");
  expect(grantInUse(elsewhere, "https://s/other")?.accessToken).toBe("o");
  expect(grantInUse(book, "__proto__")).toBeUndefined();

  const registered = {
    ...book,
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
  expect(withoutGrant(registered, grant())).toEqual(EMPTY_BOOK);
});

test("readBook accepts a written book and rejects anything else", () => {
  const book = useAccount(withGrant(EMPTY_BOOK, grant()), "https://s/mcp", "default");
  expect(readBook(JSON.parse(JSON.stringify(book)))).toEqual(book);
  for (const value of [undefined, null, [], {}, { ...book, version: 2 }, { ...book, use: { a: 1 } }])
    expect(readBook(value)).toBeUndefined();
  for (const key of ["url", "account", "id", "accessToken", "issuer", "client", "scopes", "obtainedAt"])
    expect(readBook({ ...book, grants: [{ ...grant(), [key]: undefined }] })).toBeUndefined();
  expect(readBook({ ...book, registrations: [{ issuer: "x" }] })).toBeUndefined();
});
