/**
 * The migrations that version 0.2.0 knows. It refuses a store with other or more ones, so that a gateway
 * could not be updated one replica after the other: what comes next is an addition (src/store/migrations.ts).
 */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { MIGRATIONS } from "../../src/store/migrations.ts";

const checksums = (dialect: "sqlite" | "postgres") =>
  MIGRATIONS.map((migration) =>
    createHash("sha256").update(migration(dialect).join(";\n")).digest("hex").slice(0, 16),
  );

test("the migrations of both databases are those of 0.2.0", () => {
  expect(checksums("sqlite")).toEqual(["609a4bd22cb40851", "e3b0c44298fc1c14"]);
  expect(checksums("postgres")).toEqual(["633a57aa335a6f87", "e3b0c44298fc1c14"]);
});
