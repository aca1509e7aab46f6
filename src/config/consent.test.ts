import fc from "fast-check";
import { expect, test } from "vitest";
import { consentItems, digestOf } from "./consent.ts";

const RELEVANT_KEYS = [
  "command",
  "args",
  "env",
  "cwd",
  "url",
  "headers",
  "inheritEnv",
  "oauth",
  "type",
] as const;
const OTHER_KEYS = ["timeoutMs", "tools", "examples", "lifecycle", "prefix", "description", "retry"] as const;
const entry = { command: "node", args: ["a"], env: { A: "1", B: "2" }, cwd: "." };

test.each(RELEVANT_KEYS)("the digest changes with %s", (key) => {
  expect(digestOf({ ...entry, [key]: ["other"] })).not.toBe(digestOf(entry));
});

test.each(OTHER_KEYS)("the digest does not depend on %s", (key) => {
  expect(digestOf({ ...entry, [key]: ["other"] })).toBe(digestOf(entry));
});

test("the digest of an entry stays the same in later versions, because it is stored", () => {
  const kind = { type: "stdio", transport: "a", transportType: "b" };
  const local = { command: "node", args: ["a"], env: { B: "2", A: "1" }, inheritEnv: ["C"], cwd: "." };
  const remote = { url: "https://e.example", headers: { X: "y" }, oauth: true };
  expect(digestOf({ ...kind, ...local, ...remote })).toBe(
    "01a8d9a75531ada7217838003092e1736df71557053bff66d743f78cb8dcb181",
  );
});

test("different entries have different digests, and the order of keys does not matter", () => {
  const words = fc.array(fc.string(), { maxLength: 3 });
  const map = fc.dictionary(fc.string(), fc.string(), { maxKeys: 3, noNullPrototype: true });
  const some = fc.record({ command: fc.string(), args: words, env: map, cwd: fc.string(), headers: map });
  fc.assert(
    fc.property(some, some, (a, b) => {
      const reversed = Object.fromEntries(Object.entries(a).toReversed());
      expect(digestOf({ ...reversed, env: Object.fromEntries(Object.entries(a.env).toReversed()) })).toBe(
        digestOf(a),
      );
      const same = JSON.stringify(a) === JSON.stringify(b);
      if (!same && digestOf(a) === digestOf(b)) expect(sorted(a)).toBe(sorted(b));
    }),
  );
});

function sorted(value: object): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

test("disabled servers need no consent, an embedder does", () => {
  const file = { mcpServers: { a: { ...entry, disabled: true }, b: { ...entry, enabled: false }, c: null } };
  expect(consentItems(file)).toEqual([]);
  expect(consentItems({ ...file, embedder: { url: "https://e.example" } })).toHaveLength(1);
});

test("the shown lines escape invisible characters, show variables that load code, and hide other values", () => {
  const odd = {
    command: "node",
    args: ["\u202eevil", "a\nb"],
    env: { NODE_OPTIONS: "--require x", K: "hush-hush" },
  };
  const shown = consentItems({ mcpServers: { odd } })[0]?.shown.join("|") ?? "";
  expect(shown).toContain("\\u{202e}evil");
  expect(shown).toContain("a\\u{a}b");
  expect(shown).toContain("NODE_OPTIONS='--require x' K=[secret]");
});

const shownOf = (entry: object): string => consentItems({ mcpServers: { entry } })[0]?.shown.join("|") ?? "";

test.each([
  "npm_config_userconfig",
  "npm_config_registry",
  "UV_INDEX_URL",
  "PIP_INDEX_URL",
  "HTTPS_PROXY",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "GIT_CONFIG_GLOBAL",
  "GIT_SSH_COMMAND",
  "DOCKER_HOST",
  "HOME",
  "PYTHONPATH",
  "LD_PRELOAD",
  "ENV",
  "PATH",
])("the value of %s is shown, because it decides which code runs", (name) => {
  const shown = shownOf({
    command: "npx",
    env: { [name]: "https://x:hunter2@evil.example/a", K: "hush-hush" },
  });
  expect(shown).toContain(`${name}=`);
  expect(shown).toContain("evil.example/a");
  expect(shown).not.toMatch(/hunter2|hush/);
});

test("a secret of a runner is hidden", () => {
  expect(shownOf({ command: "npx", env: { npm_config__authToken: "hush-hush" } })).not.toContain("hush");
});

test("a long value hides nothing that follows", () => {
  const long = "x".repeat(10_000);
  const shown = shownOf({
    command: "sh",
    args: ["-c", `${long}; rm -rf /`, long, "last"],
    env: { [long]: "1", PATH: long, NODE_OPTIONS: "--require evil" },
  });
  expect(shown).toMatch(/characters left out … x+; rm -rf \/'/);
  expect(shown).toContain(" last");
  expect(shown).toContain("NODE_OPTIONS='--require evil'");
  expect(shown.length).toBeLessThan(30_000);
});

test.each([
  ["it's", "'it'\\''s'"],
  ["$HOME", "'$HOME'"],
  ["${HOME}/a b", '"${HOME}/a b"'],
  ["${A}$(rm)", "'${A}$(rm)'"],
  ["", "''"],
  ["a b", "'a b'"],
  ["--in=/data", "--in=/data"],
])("the word %j is shown as a shell reads it: %s", (word, shown) => {
  expect(shownOf({ command: "x", args: [word] })).toBe(
    [
      `runs x ${shown}`,
      ...(/\$\{(\w+)/
        .exec(word)
        ?.slice(1)
        .map((name) => `with the values of your variables ${name}`) ?? []),
    ].join("|"),
  );
});

test("consent shows the folder in which a program runs", () => {
  const [item] = consentItems({ mcpServers: { a: { ...entry, cwd: "/somewhere/else" } } });
  expect(item?.shown).toContain("in the folder /somewhere/else");
});
