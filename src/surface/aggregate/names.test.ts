import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mayBelongTo, nameAll, type Part } from "./names.ts";
import { publicNames } from "./public-names.ts";

interface Item {
  readonly server: string;
  readonly name: string;
}

const part = (
  server: string,
  names: readonly string[],
  prefix: "server" | "none" = "server",
): Part<Item> => ({
  server,
  prefix,
  items: [...new Set(names)].map((name) => ({ server, name })),
});
const namesOf = (...parts: Part<Item>[]): string[] => [...nameAll(parts).keys()];
const nameOf = (parts: readonly Part<Item>[], server: string, name: string): string | undefined =>
  [...nameAll(parts)].find(([, item]) => item.server === server && item.name === name)?.[0];

describe("a public name", () => {
  test("is server__tool if that is valid", () => {
    expect(namesOf(part("git", ["log", "a__b"]), part("X-z_1", ["log"]))).toEqual([
      "git__log",
      "git__a__b",
      "X-z_1__log",
    ]);
    expect(namesOf(part("s", ["t".repeat(61)]))).toEqual([`s__${"t".repeat(61)}`]);
  });

  test("ends with a hash of server and tool if it is too long or the server name had to be changed", () => {
    expect(namesOf(part("s", ["t".repeat(62)]))).toEqual([expect.stringMatching(/^s__t{52}_[0-9a-f]{8}$/)]);
    expect(namesOf(part("my server", ["t"]))).toEqual([expect.stringMatching(/^my_server__t_[0-9a-f]{8}$/)]);
    expect(namesOf(part("a__b", ["t"]))).toEqual([expect.stringMatching(/^a_b__t_[0-9a-f]{8}$/)]);
    expect(namesOf(part("漢字", ["t"]))).toEqual([expect.stringMatching(/^server__t_[0-9a-f]{8}$/)]);
    const both = namesOf(part("a b", ["t"]), part("a_b", ["t"]), part("a__b", ["t"]), part("a_b_", ["t"]));
    expect(new Set(both).size).toBe(4);
    expect(both[1]).toBe("a_b__t");
  });

  test.each([
    "tool with spaces",
    "a/b/c",
    "dot.name",
    "emoji🎉",
    "esc\u001b[2J",
    "nul\0",
    "line\nbreak",
    "rtl\u202e",
    "é",
  ])("contains only letters that model APIs accept, and a hash: %j", (name) => {
    const hashed = /^s__[A-Za-z0-9_-]+_[0-9a-f]{8}$/;
    expect(namesOf(part("s", [name]))).toEqual([expect.stringMatching(hashed)]);
    expect(namesOf(part("s", [name], "none"))).toEqual([expect.stringMatching(hashed)]);
    expect(namesOf(part(name, ["t"]))).toEqual([expect.stringMatching(/^[A-Za-z0-9_-]+__t_[0-9a-f]{8}$/)]);
  });

  test("is the tool's own name for a server without prefix, and both are prefixed if two clash", () => {
    const a = part("a", ["x", "y"], "none");
    const b = part("b", ["y", "z"], "none");
    expect(namesOf(a)).toEqual(["x", "y"]);
    expect(namesOf(a, b)).toEqual(["x", "a__y", "b__y", "z"]);
    // A bare name that equals a prefixed one gets a prefix, and the result may displace another bare name.
    expect(namesOf(part("a", ["b__x"], "none"), part("b", ["x"]))).toEqual(["a__b__x", "b__x"]);
    const chain = [part("a", ["b__x"], "none"), part("b", ["x"]), part("c", ["a__b__x"], "none")];
    expect(namesOf(...chain)).toEqual(["a__b__x", "b__x", "c__a__b__x"]);
    expect(namesOf(part("a", ["t".repeat(65)], "none"))).toEqual([
      expect.stringMatching(/^a__t{52}_[0-9a-f]{8}$/),
    ]);
  });

  test("gets a longer hash if another tool has exactly that name", () => {
    const [hashed = ""] = namesOf(part("a b", ["t"]));
    const names = namesOf(part("a b", ["t"]), part("a_b", [hashed.slice("a_b__".length)]));
    expect(names[1]).toBe(hashed);
    expect(names[0]).toMatch(/^a_b__t_[0-9a-f]{16}$/);
  });
});

/** Few letters and many underscores, so that clashes happen. */
const word = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", "_", "_", "."), minLength: 1, maxLength: 6 }),
  fc.string({ unit: fc.constantFrom("a", "_", "é", " ", "/", "😀"), minLength: 1, maxLength: 6 }),
  fc.string({ unit: fc.constantFrom("a", "_"), minLength: 50, maxLength: 70 }),
);
const prefix = fc.constantFrom("server" as const, "server" as const, "none" as const);
const someParts = fc
  .uniqueArray(fc.tuple(word, fc.array(word, { maxLength: 6 }), prefix), {
    maxLength: 6,
    selector: ([server]) => server,
  })
  .map((all) => all.map(([server, names, how]) => part(server, names, how)));

test("every item has a unique public name of at most 64 characters", () => {
  fc.assert(
    fc.property(someParts, (parts) => {
      const named = nameAll(parts);
      const items = parts.flatMap((one) => one.items);
      expect([...named.values()]).toEqual(items);
      for (const [name, item] of named) {
        expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        const spec = parts.find(({ server }) => server === item.server);
        expect(mayBelongTo(item.server, spec?.prefix ?? "server", name)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test("a prefixed name does not depend on other servers", () => {
  fc.assert(
    fc.property(someParts, fc.infiniteStream(fc.boolean()), (parts, present) => {
      const some = parts.filter(() => present.next().value);
      for (const { server, prefix: how, items } of some) {
        if (how === "none") continue;
        for (const { name } of items) expect(nameOf(some, server, name)).toBe(nameOf(parts, server, name));
      }
    }),
    { numRuns: 300 },
  );
});

test("mayBelongTo excludes servers by the prefix of a name", () => {
  expect(mayBelongTo("git", "server", "git__log")).toBe(true);
  expect(mayBelongTo("git", "server", "github__log")).toBe(false);
  expect(mayBelongTo("git", "none", "anything")).toBe(true);
});

test("a custom prefix is kept where the name needs a hash, and follows the same rules", () => {
  const items = ["plain", "a b"].map((name) => ({ server: "s", name }));
  const names = (prefix: string) => [...publicNames([{ server: "s", prefix, items }]).keys()];
  expect(names("crm")).toEqual(["crm__plain", expect.stringMatching(/^crm__a_b_[0-9a-f]{8}$/)]);
  expect(names("my.crm")).toEqual([
    expect.stringMatching(/^my_crm__plain_[0-9a-f]{8}$/),
    expect.stringMatching(/^my_crm__a_b_[0-9a-f]{8}$/),
  ]);
  for (const prefix of ["crm", "my.crm"])
    for (const name of names(prefix)) expect(mayBelongTo("s", prefix, name)).toBe(true);
});
