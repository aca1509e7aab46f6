import { expect, expectTypeOf, test } from "vitest";
import {
  BOOLEAN,
  COUNT,
  extended,
  list,
  named,
  nameOf,
  nullable,
  object,
  type Sent,
  type Static,
  TEXT,
  type Written,
} from "./json-schema.ts";

const PERSON = object(
  { name: TEXT, kind: { enum: ["a", "b"] } },
  { age: COUNT, tags: { ...list(TEXT), default: [] }, boss: nullable(object({ name: TEXT })) },
);

test("an object has exactly its members, and requires those of the first argument", () => {
  expect(object({ a: TEXT }, { b: COUNT })).toEqual({
    type: "object",
    properties: { a: TEXT, b: COUNT },
    required: ["a"],
    additionalProperties: false,
  });
  expect(extended(object({ a: TEXT }, { b: COUNT }), { c: BOOLEAN }, { d: TEXT })).toEqual(
    object({ a: TEXT, c: BOOLEAN }, { b: COUNT, d: TEXT }),
  );
});

test("a schema has its name, and a copy of it has none", () => {
  const schema = named("Person", object({ name: TEXT }));
  expect([nameOf(schema), nameOf({ ...schema }), nameOf(TEXT)]).toEqual(["Person", undefined, undefined]);
});

test("the type of a value follows from its schema", () => {
  expectTypeOf<Static<typeof PERSON>>().branded.toEqualTypeOf<{
    readonly name: string;
    readonly kind: "a" | "b";
    readonly age?: number;
    readonly tags: readonly string[];
    readonly boss?: { readonly name: string } | null;
  }>();
  // A client may leave out what has a default.
  expectTypeOf<Pick<Sent<typeof PERSON>, "tags">>().toEqualTypeOf<{ readonly tags?: readonly string[] }>();
  expectTypeOf<Pick<Written<Static<typeof PERSON>>, "age">>().toEqualTypeOf<{
    readonly age?: number | undefined;
  }>();
  expectTypeOf<Static<{ anyOf: [{ const: 1 }, { type: "boolean" }] }>>().toEqualTypeOf<1 | boolean>();
  expectTypeOf<Static<{ type: "object"; additionalProperties: { type: "number" } }>>().toEqualTypeOf<
    Readonly<Record<string, number>>
  >();
  expectTypeOf<Static<{ description: "anything" }>>().toBeUnknown();
});
