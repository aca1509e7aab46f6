import { expect, test } from "vitest";
import { withPassword } from "./open.ts";

test.each([
  "postgres://metamcp:a/b@db:5432/metamcp",
  "postgres://metamcp:a#b@db/metamcp",
  "postgres://metamcp:12/3@db/metamcp",
  "postgres://metamcp:1#2@db/x",
])("%s is refused with the way to write its password", (url) => {
  expect(() => withPassword(url, undefined)).toThrow(
    /%2F for \/.*or leave the password out and set PGPASSWORD/,
  );
});

test.each(["a/b#c?d@e%f", "plain", "with space+plus"])(
  "the password %s can be given beside the URL",
  async (password) => {
    const { parse } = await import("pg-connection-string" as string);
    const url = withPassword("postgres://metamcp@db:5432/metamcp?sslmode=disable", password);
    expect(parse(url)).toMatchObject({ user: "metamcp", password, host: "db", database: "metamcp" });
    expect(parse(withPassword("postgres:///metamcp?host=/run/postgresql", password))).toMatchObject({
      password,
      host: "/run/postgresql",
    });
    expect(parse(withPassword("postgres://metamcp:own@db/metamcp", password))).toMatchObject({
      password: "own",
    });
  },
);
