// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is about them
import fc from "fast-check";
import { expect, test } from "vitest";
import { addressesOf, type Candidate } from "../candidate.ts";
import { readServer, type ServerJson } from "./server-json.ts";
import { type Machine, toCandidate } from "./to-candidate.ts";

const machine: Machine = { has: () => true, plain: false, checked: true };
const SHA = "f".repeat(64);

const server = (more: object, name = "io.github.acme/weather"): object => ({
  name,
  description: "Tells the weather",
  version: "1.2.3",
  ...more,
});

const npm = (more: object = {}): object => ({
  registryType: "npm",
  identifier: "@acme/weather",
  version: "1.2.3",
  transport: { type: "stdio" },
  ...more,
});

const of = (type: string, identifier: string, more: object = {}): object =>
  server({ packages: [npm({ registryType: type, identifier, ...more })] });

function candidateOf(value: unknown, on: Machine = machine): Candidate {
  const read = readServer(value);
  if ("reason" in read) throw new Error(`not read: ${read.reason}`);
  const candidate = toCandidate(read, on);
  if ("reason" in candidate) throw new Error(`not offered: ${candidate.reason}`);
  return candidate;
}

const runs = (value: unknown): readonly string[] => {
  const { entry } = candidateOf(value);
  return "command" in entry
    ? [entry.command, ...entry.args]
    : ["type" in entry ? entry.type : "", ...addressesOf(entry)];
};

test.each([
  ["npm", of("npm", "@acme/weather"), ["npx", "-y", "@acme/weather@1.2.3"]],
  ["pypi", of("pypi", "acme-weather"), ["uvx", "acme-weather@1.2.3"]],
  [
    "a tag",
    of("oci", "ghcr.io/acme/weather:2.0"),
    ["docker", "run", "-i", "--rm", "ghcr.io/acme/weather:2.0"],
  ],
  ["a tag by version", of("oci", "acme/weather"), ["docker", "run", "-i", "--rm", "acme/weather:1.2.3"]],
  [
    "a digest",
    of("oci", `acme/weather@sha256:${SHA}`, { version: undefined }),
    ["docker", "run", "-i", "--rm", `acme/weather@sha256:${SHA}`],
  ],
  [
    "an image with the host in registryBaseUrl",
    of("oci", "acme/weather", { registryBaseUrl: "https://ghcr.io" }),
    ["docker", "run", "-i", "--rm", "ghcr.io/acme/weather:1.2.3"],
  ],
  ["nuget", of("nuget", "Acme.Weather"), ["dnx", "Acme.Weather@1.2.3", "--yes"]],
  [
    "nuget with arguments",
    of("nuget", "Acme.Weather", { packageArguments: [{ type: "positional", value: "start" }] }),
    ["dnx", "Acme.Weather@1.2.3", "--yes", "--", "start"],
  ],
])("%s becomes a command with an exact version", (_what, value, command) => {
  expect(runs(value)).toEqual(command);
});

test("arguments keep the order of the entry, with fixed values and defaults", () => {
  const value = of("npm", "@acme/weather", {
    runtimeHint: "npx",
    runtimeArguments: [{ type: "positional", value: "-y" }],
    packageArguments: [
      { type: "positional", value: "mcp" },
      { type: "named", name: "--port", default: "8080" },
      { type: "named", name: "--mode=", value: "local" },
      { type: "named", name: "--verbose", format: "boolean", isRequired: true },
      { type: "named", name: "--debug", format: "boolean" },
      { type: "named", name: "--never" },
      { type: "positional", valueHint: "target_dir", isRequired: true, isRepeated: true },
    ],
  });
  expect(runs(value).slice(3)).toEqual([
    "mcp",
    "--port",
    "8080",
    "--mode=local",
    "--verbose",
    "${WEATHER_TARGET_DIR}",
  ]);
});

test("values that the user must set become placeholders and declared variables", () => {
  const { entry, variables } = candidateOf(
    of("npm", "@acme/weather", {
      environmentVariables: [
        { name: "ACME_KEY", description: "The key", isRequired: true, isSecret: true },
        { name: "ACME_UNITS", choices: ["c", "f"] },
        { name: "ACME_LEVEL", default: "info" },
        { name: "ACME_URL", value: "https://{host}/", variables: { host: { isRequired: true } } },
      ],
    }),
  );
  expect(entry).toMatchObject({
    env: {
      ACME_KEY: "${ACME_KEY}",
      ACME_UNITS: "${ACME_UNITS}",
      ACME_LEVEL: "info",
      ACME_URL: "https://${WEATHER_HOST}/",
    },
  });
  expect(variables).toEqual([
    { name: "ACME_KEY", description: "The key", required: true, secret: true },
    { name: "ACME_UNITS", description: "One of: c, f", required: false, secret: false },
    { name: "WEATHER_HOST", required: true, secret: false },
  ]);
});

test("a container gets its variables by name, and mounts contain placeholders", () => {
  const value = of("oci", "acme/files:1.0.0", {
    runtimeArguments: [
      {
        type: "named",
        name: "--mount",
        value: "type=bind,src={source},dst={target}",
        isRequired: true,
        variables: { source: { isRequired: true }, target: { default: "/project" } },
      },
    ],
    packageArguments: [{ type: "positional", value: "/project" }],
    environmentVariables: [{ name: "TOKEN", isRequired: true }],
  });
  expect(runs(value)).toEqual(
    "docker run -i --rm --mount type=bind,src=${WEATHER_SOURCE},dst=/project -e TOKEN acme/files:1.0.0 /project".split(
      " ",
    ),
  );
});

test("a remote gets its address and headers, and its placeholders have the server's name as a prefix", () => {
  const { entry, variables, version } = candidateOf(
    server({
      remotes: [
        { type: "sse", url: "https://weather.example/sse" },
        {
          type: "streamable-http",
          url: "https://{path}.weather.example/mcp",
          variables: { path: { isRequired: true } },
          headers: [
            {
              name: "Authorization",
              value: "Bearer {token}",
              isSecret: true,
              variables: { token: { isRequired: true } },
            },
            { name: "X-Region", default: "eu" },
          ],
        },
      ].slice(1),
    }),
  );
  expect(version).toBeUndefined();
  expect(entry).toEqual({
    type: "http",
    url: "https://${WEATHER_PATH}.weather.example/mcp",
    headers: { Authorization: "Bearer ${WEATHER_TOKEN}", "X-Region": "eu" },
  });
  expect(variables).toEqual([
    { name: "WEATHER_PATH", required: true, secret: false },
    { name: "WEATHER_TOKEN", required: true, secret: true },
  ]);
});

test("a candidate for a bundle has its URL and checksum", () => {
  const url = "https://github.com/acme/weather/releases/download/v1/weather.mcpb";
  const candidate = candidateOf(of("mcpb", url, { fileSha256: SHA, version: undefined }));
  expect(candidate).toMatchObject({ bundle: { url, sha256: SHA }, version: "1.2.3" });
});

test("a candidate has the members that ranking and trust need", () => {
  expect(
    candidateOf(
      server({ title: "Weather", packages: [npm()], repository: { url: "https://github.com/a/b" } }),
    ),
  ).toMatchObject({
    id: "io.github.acme/weather",
    name: "weather",
    title: "Weather",
    description: "Tells the weather",
    from: "registry",
    version: "1.2.3",
    publishers: ["io.github.acme/weather", "@acme/weather"],
    verified: true,
    link: "https://github.com/a/b",
  });
  expect(candidateOf(server({ packages: [npm()] }, "com.stripe/mcp")).name).toBe("stripe");
});

const open = { type: "streamable-http", url: "https://weather.example/mcp" };
const closed = { ...open, headers: [{ name: "X-Key", isRequired: true, isSecret: true }] };
const uv = npm({ registryType: "pypi", identifier: "weather" });
const image = npm({ registryType: "oci", identifier: "acme/weather" });

test.each([
  [
    "npx is preferred to everything else",
    { packages: [image, uv, npm()], remotes: [open] },
    () => true,
    "npx",
  ],
  [
    "a remote without a key is preferred to other runners",
    { packages: [image, uv], remotes: [open] },
    () => true,
    "http",
  ],
  [
    "a runner is preferred to a remote with a key",
    { packages: [image, uv], remotes: [closed] },
    () => true,
    "uvx",
  ],
  [
    "an installed runner is preferred",
    { packages: [image, uv] },
    (command: string) => command === "docker",
    "docker",
  ],
  [
    "a remote is preferred to a runner that is not installed",
    { packages: [image, uv], remotes: [closed] },
    () => false,
    "http",
  ],
  ["streamable HTTP is preferred to SSE", { remotes: [{ ...open, type: "sse" }, open] }, () => true, "http"],
])("%s", (_what, more, has, expected) => {
  const { entry } = candidateOf(server(more), { ...machine, has });
  expect("command" in entry ? entry.command : "type" in entry && entry.type).toBe(expected);
});

test.each([
  ["a name with a path", server({ packages: [npm()] }, "../../etc")],
  ["a name with dots inside", server({ packages: [npm()] }, "io..github/x")],
  ["a name with a quote", server({ packages: [npm()] }, 'io.github.acme/we"ather')],
  ["a name of one part", server({ packages: [npm()] }, "weather")],
  ["a version range", of("npm", "@acme/weather", { version: "^1.2.3" })],
  ["a version of two numbers, which npm reads as a range", of("npm", "@acme/weather", { version: "1.2" })],
  ["a tag as version", of("npm", "@acme/weather", { version: "latest" })],
  ["a wildcard version", of("npm", "@acme/weather", { version: "1.x" })],
  ["no version", of("npm", "@acme/weather", { version: undefined })],
  ["an option as package", of("npm", "--call")],
  ["an address as package", of("npm", "https://evil.example/x.tgz")],
  ["a path as package", of("npm", "../evil")],
  ["a git address as package", of("pypi", "git+https://evil.example/x")],
  ["a package with a source", of("pypi", "x @ https://evil.example/x")],
  ["an image with the tag latest", of("oci", "acme/weather:latest")],
  ["an option as image", of("oci", "--privileged")],
  [
    "a bundle address with a look-alike letter",
    of("mcpb", "https://we\u0430ther.example/a.mcpb", { fileSha256: "a".repeat(64) }),
  ],
  ["a bundle without a checksum", of("mcpb", "https://x.example/a.mcpb")],
  ["a bundle with a short checksum", of("mcpb", "https://x.example/a.mcpb", { fileSha256: "abc" })],
  ["one bad package among good ones", server({ packages: [npm(), npm({ identifier: "a b" })] })],
  ["arguments that are not a list", of("npm", "@acme/weather", { packageArguments: {} })],
  [
    "a value that is not a string",
    of("npm", "@acme/weather", { packageArguments: [{ type: "positional", value: 1 }] }),
  ],
  [
    "a line break in a value",
    of("npm", "@acme/weather", { packageArguments: [{ type: "positional", value: "a\nb" }] }),
  ],
  [
    "a variable called __proto__",
    JSON.parse(
      JSON.stringify(
        of("npm", "@acme/weather", {
          packageArguments: [{ type: "positional", value: "{x}", variables: { x: {} } }],
        }),
      ).replace('"x":{}', '"__proto__":{}'),
    ),
  ],
  ["a version that is a path", { ...server({ packages: [npm()] }), version: "1/../../x" }],
])("an entry with %s is invalid as a whole", (_what, value) => {
  expect(readServer(value)).toMatchObject({ reason: expect.any(String) });
});

const arg = (value: string): object => ({ packageArguments: [{ type: "positional", value }] });
const env = (name: string, value: string): object => ({ environmentVariables: [{ name, value }] });
const runtime = (hint: string, ...values: string[]): object => ({
  runtimeHint: hint,
  runtimeArguments: values.map((value) => ({ type: "positional", value })),
});

test.each([
  ["a shell command in an argument for npx", of("npm", "a", arg("x;rm -rf ~"))],
  ["a command substitution", of("npm", "a", arg("$(id)"))],
  ["a space in an argument", of("npm", "a", arg("a b"))],
  [
    "a pipe in the name of a flag",
    of("npm", "a", { packageArguments: [{ type: "named", name: "--x|y", value: "1" }] }),
  ],
  ["npx with --call", of("npm", "a", runtime("npx", "--call", "id"))],
  ["npx with another package", of("npm", "a", runtime("npx", "--package=evil"))],
  ["npx with another registry", of("npm", "a", { registryBaseUrl: "https://evil.example" })],
  ["uvx with another package", of("pypi", "a", runtime("uvx", "--from", "evil"))],
  ["uvx with an additional package", of("pypi", "a", runtime("uvx", "--with", "evil"))],
  ["a privileged container", of("oci", "a", runtime("docker", "--privileged"))],
  [
    "a container with the socket of the engine",
    of("oci", "a", runtime("docker", "-v", "/var/run/docker.sock:/var/run/docker.sock")),
  ],
  ...["--pid=host", "--device=/dev/sda", "--cap-add=ALL", "--network=host", "-v/:/host"].map(
    (option): [string, ReturnType<typeof of>] => [
      `a container with ${option}`,
      of("oci", "a", runtime("docker", option)),
    ],
  ),
  ["a container with a system folder", of("oci", "a", runtime("docker", "-v", "/etc/..:/host"))],
  ["a container with all files of the host", of("oci", "a", runtime("docker", "-v", "/:/host"))],
  ["the user's HOME in an argument", of("pypi", "a", arg("${HOME}"))],
  ["the user's HOME in the environment", of("npm", "a", env("X", "${HOME}"))],
  [
    "a variable of the user composed of two values",
    of("pypi", "a", {
      packageArguments: [
        { type: "positional", value: "{a}{b}", variables: { a: { value: "$" }, b: { value: "{HOME}" } } },
      ],
    }),
  ],
  [
    "a variable of the user in a default",
    of("pypi", "a", {
      packageArguments: [{ type: "named", name: "--x", default: "${AWS_SECRET_ACCESS_KEY:-}" }],
    }),
  ],
  [
    "another npm registry in the environment",
    of("npm", "a", env("npm_config_registry", "https://evil.example")),
  ],
  ["NODE_OPTIONS", of("npm", "a", env("NODE_OPTIONS", "--import=data:text/javascript,1"))],
  ["LD_PRELOAD", of("pypi", "a", env("LD_PRELOAD", "/tmp/x.so"))],
  ["PYTHONPATH", of("pypi", "a", env("PYTHONPATH", "/tmp"))],
  ["another package index", of("pypi", "a", env("UV_INDEX_URL", "https://evil.example"))],
  [
    "the token of MetaMCP",
    of("npm", "a", { environmentVariables: [{ name: "METAMCP_TOKEN", isRequired: true }] }),
  ],
  [
    "the token of MetaMCP through the server's name",
    server(
      { remotes: [{ ...open, headers: [{ name: "Token", isRequired: true }] }] },
      "io.github.metamcp/mcp",
    ),
  ],
  ["another container engine", of("oci", "a", env("DOCKER_HOST", "tcp://evil.example"))],
  [
    "a package with a remote transport",
    of("npm", "a", { transport: { type: "streamable-http", url: "http://localhost:1/mcp" } }),
  ],
  ["an address without https", server({ remotes: [{ type: "sse", url: "http://weather.example/sse" }] })],
  [
    "an address with a look-alike letter",
    server({ remotes: [{ type: "sse", url: "https://we\u0430ther.example/sse" }] }),
  ],
  [
    "an address with a password",
    server({ remotes: [{ type: "sse", url: "https://a:b@weather.example/sse" }] }),
  ],
  [
    "an address with a variable of the user",
    server({ remotes: [{ type: "sse", url: "https://weather.example/${HOME}" }] }),
  ],
  ["a header of the connection", server({ remotes: [{ ...open, headers: [{ name: "Host", value: "x" }] }] })],
  [
    "a header with a variable of the user",
    server({ remotes: [{ ...open, headers: [{ name: "X-A", value: "${HOME}" }] }] }),
  ],
  ["nothing to run", server({})],
])("an entry with %s is refused with a reason", (_what, value) => {
  const read = readServer(value);
  expect(read).not.toHaveProperty("reason");
  expect(toCandidate(read as ServerJson, machine)).toEqual({ reason: expect.stringMatching(/\w/) });
});

test("uvx --from runs a command with another name than its package", () => {
  const value = of("pypi", "acme-weather", {
    ...runtime("uvx", "--from", "acme_weather[all]"),
    ...arg("weather-server"),
  });
  expect(runs(value)).toEqual(["uvx", "--from", "acme-weather[all]==1.2.3", "weather-server"]);
});

test("a long description is cut, and invisible characters are removed", () => {
  const { description } = candidateOf({
    ...server({ packages: [npm()] }),
    description: `a\u202eb\u0000c ${"x".repeat(1 << 20)}`,
  });
  expect(description.length).toBeLessThanOrEqual(300);
  expect(description).toMatch(/^a b c x+…$/);
});

test.each(["NODE_ENV", "NODE_URL", "GIT_AUTHOR_NAME", "NPM_TOKEN", "PYTHONUNBUFFERED", "API_URL", "PATHS"])(
  "an entry may set %s",
  (name) => expect(candidateOf(of("npm", "a", env(name, "1"))).entry).toMatchObject({ env: { [name]: "1" } }),
);

/** Words with a meaning somewhere in a server.json, so that random values reach the deep branches. */
const word = fc.constantFrom(
  "npm",
  "pypi",
  "oci",
  "nuget",
  "mcpb",
  "stdio",
  "sse",
  "streamable-http",
  "positional",
  "named",
  "npx",
  "docker",
  "1.2.3",
  "latest",
  "^1",
  "@a/b",
  "a",
  "../x",
  "a/b",
  "io.github.a/b",
  "..",
  "-y",
  "--from",
  "a@1.2.3",
  "-v",
  "/:/x",
  "${HOME}",
  "{x}",
  "$",
  "{HOME}",
  "x;y",
  "`id`",
  "a b",
  "%PATH%",
  "https://a.example/{x}",
  "https://a.example/x",
  "__proto__",
  "constructor",
  "PATH",
  "NODE_OPTIONS",
  "TOKEN",
  SHA,
  "\u0000",
  "\n",
  "",
  "é",
);
const tame = fc.constantFrom(
  "a",
  "start",
  "--port",
  "8080",
  "TOKEN",
  "X_KEY",
  "{x}",
  "/data",
  "target_dir",
  "https://a.example/x",
);
const text = fc.oneof(
  { weight: 60, arbitrary: tame },
  { weight: 6, arbitrary: word },
  fc.string(),
  fc.tuple(word, word).map(([a, b]) => a + b),
);
const junk = fc.oneof(fc.jsonValue(), text);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 300, arbitrary }, junk);
const input = {
  value: maybe(text),
  default: maybe(text),
  description: maybe(text),
  isRequired: maybe(fc.boolean()),
  isSecret: maybe(fc.boolean()),
  format: maybe(fc.constantFrom("string", "boolean")),
  choices: maybe(fc.array(text, { maxLength: 3 })),
  variables: maybe(
    fc.dictionary(
      fc.oneof({ weight: 20, arbitrary: fc.constantFrom("x", "HOME", "y") }, text),
      fc.record({ value: text, default: text, isRequired: fc.boolean() }, { requiredKeys: [] }),
      { maxKeys: 2 },
    ),
  ),
};
const record = (
  keys: Record<string, fc.Arbitrary<unknown>>,
  requiredKeys: string[] = [],
): fc.Arbitrary<unknown> => fc.record(keys, { requiredKeys });
const args = maybe(
  fc.array(
    record({ type: fc.constantFrom("positional", "named"), name: text, valueHint: text, ...input }, [
      "type",
      "name",
    ]),
    { maxLength: 3 },
  ),
);
const pairs = maybe(fc.array(record({ name: text, ...input }, ["name"]), { maxLength: 3 }));
const mostly = (...good: unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...good) }, text);
const kind = fc.constantFrom(
  ["npm", "a"],
  ["npm", "@a/b"],
  ["pypi", "a"],
  ["oci", "a/b:1"],
  ["nuget", "A.B"],
  ["cargo", "a"],
  ["mcpb", "https://a.example/x.mcpb"],
);
const runnerOption = fc.record({
  type: fc.constant("positional"),
  value: mostly("-y", "--rm", "--isolated"),
});
const listed = fc
  .tuple(
    fc.oneof(
      { weight: 30, arbitrary: kind },
      fc.tuple(fc.constantFrom("npm", "pypi", "oci", "nuget", "mcpb"), text),
    ),
    record(
      {
        version: mostly("1.2.3"),
        fileSha256: mostly(SHA),
        transport: maybe(fc.constant({ type: "stdio" })),
        runtimeHint: maybe(fc.constantFrom("npx", "uvx", "docker")),
        registryBaseUrl: mostly("https://registry.npmjs.org"),
        runtimeArguments: fc.oneof({ weight: 5, arbitrary: fc.array(runnerOption, { maxLength: 2 }) }, args),
        packageArguments: args,
        environmentVariables: pairs,
      },
      ["version", "fileSha256", "transport"],
    ),
  )
  .map(([[registryType, identifier], rest]) => ({ registryType, identifier, ...(rest as object) }));
const remote = record(
  {
    type: fc.constantFrom("sse", "streamable-http"),
    url: mostly("https://a.example/x", "https://{x}.example/{y}", "{x}/mcp"),
    headers: pairs,
    variables: input.variables,
  },
  ["type", "url"],
);
const anyServer = record(
  {
    name: fc.oneof({ weight: 30, arbitrary: fc.constant("io.github.a/b") }, text),
    description: maybe(text),
    version: fc.oneof({ weight: 30, arbitrary: fc.constant("1.0.0") }, text),
    packages: maybe(fc.array(listed, { maxLength: 2 })),
    remotes: maybe(fc.array(remote, { maxLength: 2 })),
  },
  ["name", "version"],
);

test("no server.json throws, contains shell characters for npx or dnx, or uses an undeclared variable", () => {
  const seen = { offered: 0, npx: 0, arguments: 0 };
  fc.assert(
    fc.property(fc.oneof({ weight: 20, arbitrary: anyServer }, fc.jsonValue()), (value) => {
      const read = readServer(JSON.parse(JSON.stringify(value)));
      if ("reason" in read) return;
      expect(readServer(JSON.parse(JSON.stringify(read)))).toEqual(read);
      const candidate = toCandidate(read, machine);
      if ("reason" in candidate) return;
      seen.offered++;
      const declared = new Set(candidate.variables.map(({ name }) => name));
      const { entry } = candidate;
      const own = "command" in entry ? [entry.command, ...entry.args] : addressesOf(entry);
      const texts = [...own, ...Object.values(("command" in entry ? entry.env : entry.headers) ?? {})];
      for (const one of texts)
        for (const [, name = ""] of one.matchAll(/\$\{([^}]*)\}?/g)) expect(declared).toContain(name);
      expect(candidate.name).toMatch(/^[a-z0-9][a-z0-9._-]*$/);
      expect(`${candidate.id}/${candidate.name}/${candidate.version}`.split("/")).not.toContain("..");
      if (!("command" in entry)) return;
      if (entry.args.length > 3) seen.arguments++;
      if (entry.command !== "npx" && entry.command !== "dnx") return;
      seen.npx++;
      for (const one of entry.args) {
        expect(one.replaceAll(/\$\{[A-Z_0-9]+\}/g, "")).not.toMatch(/[\s;&|<>()$`\\"'*?[\]#~!{}%^]/);
      }
      const at = entry.args.findIndex((one) => !one.startsWith("-"));
      expect(entry.args[entry.command === "npx" ? at : 0]).toMatch(/^(?:@[a-z0-9._-]+\/)?[\w.-]+@\d+\.\d+/);
    }),
    { numRuns: 3_000 },
  );
  // Otherwise the property was hardly tested.
  expect(seen.offered).toBeGreaterThan(100);
  expect(seen.npx).toBeGreaterThan(20);
  expect(seen.arguments).toBeGreaterThan(10);
});
