// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configs hold them
import fc from "fast-check";
import { expect, test } from "vitest";
import { flawOf, type TrustRules, type TrustSubject, trustIn } from "./trust.ts";

const npm = (id: string, identifier: string, more: Partial<TrustSubject> = {}): TrustSubject => ({
  id,
  from: "registry",
  publishers: [id, identifier],
  entry: { command: "npx", args: ["-y", `${identifier}@1.2.3`] },
  variables: [],
  ...more,
});

const allow = (...rules: string[]) => ({ allow: rules, deny: [] });

test.each([
  ["the package", "@good/server", "trusted"],
  ["all packages of the scope", "@good/*", "trusted"],
  ["the registry name", "io.github.good/server", "trusted"],
  ["all servers of the publisher", "io.github.good/*", "trusted"],
  ["a scope with the same beginning", "@goo/*", "unknown"],
  ["a publisher with the same beginning", "io.github.goo/*", "unknown"],
  ["another case", "@Good/*", "unknown"],
  ["a part of the name", "server", "unknown"],
])("with an allow rule for %s (%s) a server is %s", (_what, rule, trust) => {
  expect(trustIn(allow(rule), npm("io.github.good/server", "@good/server"))).toBe(trust);
});

test("a deny rule wins over every allow rule, in any spelling", () => {
  const name = fc.constantFrom("@good/*", "@good/server", "io.github.good/*", "@GOOD/server", "*");
  fc.assert(
    fc.property(fc.array(name), name, (allowed, denied) => {
      const rules = { allow: allowed, deny: [denied] };
      expect(trustIn(rules, npm("io.github.good/server", "@good/server"))).toBe("denied");
    }),
  );
});

test("trust in a package does not cover another publisher's entry that passes arguments or values to it", () => {
  const evil = (entry: TrustSubject["entry"], variables: TrustSubject["variables"] = []) =>
    trustIn(allow("@good/*"), npm("io.github.evil/server", "@good/server", { entry, variables }));
  const key = { name: "KEY", required: true, secret: true };
  expect(evil({ command: "npx", args: ["-y", "@good/server@1.2.3"] })).toBe("trusted");
  expect(evil({ command: "npx", args: ["-y", "@good/server@1.2.3"], env: { KEY: "${KEY}" } }, [key])).toBe(
    "trusted",
  );
  expect(evil({ command: "npx", args: ["-y", "@good/server@1.2.3", "/"] })).toBe("unknown");
  expect(evil({ command: "npx", args: ["-y", "@good/server@1.2.3", "KEY"] }, [key])).toBe("unknown");
  expect(evil({ command: "npx", args: ["-y", "--node-options=-r ./x", "@good/server@1.2.3"] })).toBe(
    "unknown",
  );
  expect(evil({ command: "npx", args: ["-y", "@good/server-evil@1.2.3"] })).toBe("unknown");
  expect(evil({ command: "npx", args: ["-y", "@good/server@npm:evil@1"] })).toBe("unknown");
  expect(evil({ command: "npx", args: ["-y", "@good/server@1.2.3"], env: { NODE_OPTIONS: "-r ./x" } })).toBe(
    "unknown",
  );
  expect(evil({ type: "http", url: "https://good.example/mcp" })).toBe("unknown");
  expect(trustIn(allow("io.github.evil/*"), npm("io.github.evil/server", "@good/server"))).toBe("trusted");
});

test("a container with a mounted folder is not trusted", () => {
  const key = { name: "KEY", required: true, secret: true };
  const image = (...args: string[]): TrustSubject => ({
    id: "io.github.evil/server",
    from: "registry",
    publishers: ["io.github.evil/server", "ghcr.io/good/server"],
    entry: { command: "docker", args, env: { KEY: "${KEY}" } },
    variables: [key],
  });
  const plain = image("run", "-i", "--rm", "-e", "KEY", "ghcr.io/good/server:1.0.0");
  expect(trustIn(allow("ghcr.io/good/*"), plain)).toBe("trusted");
  const mounted = image("run", "-i", "--rm", "-v", "/:/host", "ghcr.io/good/server:1.0.0");
  expect(trustIn(allow("ghcr.io/good/*"), mounted)).toBe("unknown");
});

test("arguments in gallery entries do not prevent trust", () => {
  const entry = { command: "npx", args: ["-y", "@good/server@1.2.3", "${FOLDER}"] };
  const listed = npm("files", "@good/server", { from: "gallery", entry });
  expect(trustIn(allow("@good/*"), listed)).toBe("trusted");
});

test("a rule for one package registry does not apply to the same name in another", () => {
  const as = (command: string): TrustSubject => ({
    id: "io.github.evil/time",
    from: "registry",
    publishers: ["io.github.evil/time", "mcp-server-time"],
    entry: { command, args: ["mcp-server-time@1.0.0"] },
    variables: [],
  });
  const commands = ["uvx", "npx", "dnx", "docker"];
  const judged = (rules: TrustRules): readonly string[] => commands.map((one) => trustIn(rules, as(one)));
  expect(judged(allow("pypi:mcp-server-time"))).toEqual(["trusted", "unknown", "unknown", "unknown"]);
  expect(judged(allow("npm:mcp-server-time"))).toEqual(["unknown", "trusted", "unknown", "unknown"]);
  expect(judged(allow("mcp-server-time"))).toEqual(commands.map(() => "trusted"));
  expect(judged({ allow: [], deny: ["pypi:mcp-server-time"] })[0]).toBe("denied");
  const scoped = npm("io.github.evil/server", "@good/server");
  expect(trustIn(allow("npm:@good/*"), scoped)).toBe("trusted");
  expect(trustIn(allow("pypi:@good/*"), scoped)).toBe("unknown");
});

test.each([
  ["evil-server", "Evil_Server", "uvx"],
  ["evil_server", "evil.-_server", "uvx"],
  ["pypi:evil_server", "evil-server", "uvx"],
  ["evil/*", "docker.io/evil/server", "docker"],
  ["docker.io/evil/server", "evil/server", "docker"],
  ["index.docker.io/evil/*", "registry-1.docker.io/evil/server", "docker"],
])("the deny rule %s also denies the spelling %s", (rule, name, command) => {
  const entry = { command, args: [name] };
  const judged = {
    id: "io.github.some/one",
    from: "registry" as const,
    publishers: [name],
    entry,
    variables: [],
  };
  expect(trustIn({ allow: ["io.github.some/*"], deny: [rule] }, judged)).toBe("denied");
});

test('flawOf rejects malformed rules, and allows "*" only for deny', () => {
  for (const rule of [
    "@scope/*",
    "npm:@scope/*",
    "pypi:package",
    "package",
    "io.github.name/*",
    "ghcr.io/a/b",
    "mcp.example.com",
  ])
    expect(flawOf(rule, "allow"), rule).toBeUndefined();
  for (const rule of [
    "",
    "*",
    "/*",
    "a b",
    "@sc*pe/x",
    "io.github.*/x",
    "a//b",
    "../x",
    "npm:",
    "npm:*",
    "npm:/*",
    "a\nb",
  ])
    expect(flawOf(rule, "allow"), rule).toBeDefined();
  expect(flawOf("*", "deny")).toBeUndefined();
});
