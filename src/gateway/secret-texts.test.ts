import { expect, test } from "vitest";
import { create, patch, settingsOf } from "./changes.ts";
import { compile } from "./compile.ts";
import { contextAt as at } from "./context.fixture.ts";
import { applyDocument } from "./document/apply.ts";
import { exportDocument } from "./document/document.ts";
import { NO_OBJECTS, type Objects, type StoredObject } from "./objects.ts";
import { present } from "./present.ts";
import { Refusal } from "./refusal.ts";

const ARGS = ["-y", "stripe-mcp", "--api-key=rk_1", "--token", "t0ken", "--mode", "live"];
const SHOWN = ["-y", "stripe-mcp", "--api-key=********", "--token", "********", "--mode", "live"];
const URL_TEXT = "https://x.example/mcp?api_key=hunter2&org=acme";
const { vault } = at(1);
const entryContext = { path: "/", folder: "/", env: { PLAIN: "p" } };

function setUp(): Objects {
  const { objects } = create(NO_OBJECTS, "server", { name: "stripe", command: "npx", args: ARGS }, at(1));
  return create(objects, "server", { name: "remote", url: URL_TEXT }, at(2)).objects;
}
const object = (objects: Objects, name: string) =>
  [...objects.server.values()].find((one) => one.name === name) as StoredObject<"server">;
const spec = (objects: Objects, name: string) =>
  compile(objects, { entryContext, vault }).compiled.servers.get(object(objects, name).uuid)?.spec;
const change = (objects: Objects, reference: string, fields: object) =>
  patch(objects, { kind: "server", reference }, fields, at(3));

test("secrets in args and url are sealed, shown masked, and given to the server", () => {
  const objects = setUp();
  expect(JSON.stringify(object(objects, "stripe").spec)).toContain('{"sealed":');
  expect(object(objects, "stripe").spec.args?.map((arg: unknown) => typeof arg)).toEqual(
    SHOWN.map((text) => (text.includes("*") ? "object" : "string")),
  );
  expect(present(object(objects, "stripe")).args).toEqual(SHOWN);
  expect(present(object(objects, "remote")).url).toBe("https://x.example/mcp?api_key=********&org=acme");
  expect(spec(objects, "stripe")).toMatchObject({ args: ARGS });
  expect(spec(objects, "remote")).toMatchObject({ url: URL_TEXT });
});

test("a mask that is sent back keeps the secret of the same option, and only of that", () => {
  const objects = setUp();
  expect(change(objects, "stripe", { args: SHOWN }).changes).toEqual([]);
  expect(change(objects, "stripe", { args: ARGS }).changes).toEqual([]);
  const newer = SHOWN.with(1, "stripe-mcp@2.0.1");
  const { objects: updated } = change(objects, "stripe", { args: newer });
  expect(spec(updated, "stripe")).toMatchObject({ args: ARGS.with(1, "stripe-mcp@2.0.1") });
  for (const [name, fields] of [
    ["stripe", { args: ["--other", "********"] }],
    ["stripe", { args: ["--password=********"] }],
    ["stripe", { args: ["--token", "********", "--token", "********"] }],
    ["remote", { url: "https://evil.example/mcp?api_key=********&org=acme" }],
  ] as const)
    expect(() => change(objects, name, fields)).toThrow(Refusal);
});

test("a masked header is not sent to another address, and stays at the same one", () => {
  const { objects } = create(
    NO_OBJECTS,
    "server",
    { name: "r", url: "https://x.example/mcp", headers: { Authorization: "Bearer s3cret" } },
    at(1),
  );
  const moved = (url: string, headers?: object) => () =>
    change(objects, "r", { url, ...(headers && { headers }) });
  for (const url of [
    "https://evil.example/mcp",
    "http://x.example/mcp",
    "https://x.example:8443/mcp",
    "https://x.example@evil.example/mcp",
    "https:\\\\evil.example/mcp",
    "https://${A:-evil.example/}@x.example/mcp",
    "https://${HOST}/mcp",
    "https://x.example/@other/mcp",
    "https://x.example/MCP",
    "https://x.example/mcp?to=evil",
    "https://x.example/mcp#x",
  ]) {
    expect(moved(url), url).toThrow(Refusal);
    expect(moved(url, { Authorization: "********" }), url).toThrow(Refusal);
  }
  expect(moved("https://X.example/mcp")).not.toThrow();
  expect(moved("https://evil.example/mcp", { Authorization: "Bearer new" })).not.toThrow();
  expect(moved("https://evil.example/mcp", { Authorization: null })).not.toThrow();
});

test("a masked secret is not given to another program, and stays with the same one", () => {
  const npx = { command: "npx", args: ["-y", "pay", "--api-key=sk_live_abcdef"], env: { KEY: "s3cret" } };
  const { objects } = create(NO_OBJECTS, "server", { name: "p", ...npx }, at(1));
  const args = ["-y", "pay", "--api-key=********"];
  const moved = (fields: object) => () => change(objects, "p", fields);
  const env = { KEY: "********" };
  for (const fields of [
    { command: "evil" },
    { command: "/tmp/npx" },
    { command: "evil", args, env },
    { cwd: "/tmp" },
    { command: "evil", args: ["-y"] },
    { command: "evil", args, env: { KEY: "new" } },
    { args: args.with(1, "evil") },
    { args: args.with(1, "pay@npm:evil") },
    { args: args.with(1, "pay@https://evil.example/pay.tgz") },
    { args: args.with(1, "pay@evil/repo") },
    { args: ["-y", "-p", "evil", "pay", "--api-key=********"] },
    { args: ["-y", "--registry=https://evil.example", "pay", "--api-key=********"] },
    { args: [...args, "--base-url=https://evil.example"] },
    { args: ["-y", "--api-key=********"] },
    { env: { NODE_OPTIONS: "--require /tmp/evil.js" } },
    { env: { npm_config_registry: "https://evil.example" } },
    { env: { PATH: "/tmp" } },
  ])
    expect(moved(fields), JSON.stringify(fields)).toThrow("belongs to another program");
  expect(moved({ env: { ...env, MORE: "x" } })).not.toThrow();
  expect(moved({ args: args.with(1, "pay@1.2.3-beta.1") })).not.toThrow();
  expect(moved({ args: args.with(1, "pay@latest") })).not.toThrow();
  const entered = { args: ["--api-key=sk_live_abcdef"], env: { KEY: "s3cret" } };
  expect(moved({ command: "other", ...entered })).not.toThrow();
  expect(moved({ command: "other", args: [], env: { KEY: null } })).not.toThrow();
});

test.each([
  ["an image", "docker", ["run", "-i", "-e", "KEY", "pay"], ["run", "-i", "-e", "KEY", "evil"]],
  ["a script", "node", ["pay.js"], ["evil.js"]],
  ["a preloaded script", "node", ["pay.js"], ["--import=evil.mjs", "pay.js"]],
  ["a module", "python3", ["-m", "pay"], ["-m", "evil"]],
  ["a Python package", "uvx", ["pay==1.0"], ["evil==1.0"]],
  ["another source", "uvx", ["pay==1.0"], ["--from", "evil", "pay==1.0"]],
  ["a host", "ssh", ["me@pay.example"], ["me@evil.example"]],
  ["a host that looks like a version", "ssh", ["me@1.2.3"], ["me@1.2.4"]],
])("other arguments that run %s do not get masked secrets, by API, document or new name", (_, ...given) => {
  const [command, args, evil] = given;
  const env = { KEY: "s3cret", PATH: "/usr/bin" };
  const { objects } = create(NO_OBJECTS, "server", { name: "p", command, args, env }, at(1));
  const message = "belongs to another program";
  expect(() => change(objects, "p", { args: evil })).toThrow(message);
  expect(() => change(objects, "p", { name: "q", args: evil, env: { KEY: "********" } })).toThrow(message);
  const apply = (entry: object, name = "p") =>
    applyDocument(objects, { version: 1, servers: { [name]: { command, ...entry } } }, {}, at(2));
  expect(() => apply({ args: evil })).toThrow(message);
  expect(() => apply({ args: evil, uuid: object(objects, "p").uuid }, "q")).toThrow(message);
  expect(() => apply({ args: evil, env: { KEY: "********" } }, "q")).toThrow("no value is stored");
  expect(() => apply({ args })).not.toThrow();
  // A variable that decides which code runs may be sent again with its value.
  expect(() => change(objects, "p", { env: { PATH: "/usr/bin" } })).not.toThrow();
  expect(() => change(objects, "p", { env: { PATH: "/evil" } })).toThrow(message);
  expect(() => change(objects, "p", { env: { PATH: null } })).toThrow(message);
});

test("a text that was stored before secrets were sealed is masked too", () => {
  const objects = setUp();
  const old = { ...object(objects, "stripe"), spec: { ...object(objects, "stripe").spec, args: ARGS } };
  const before = { ...objects, server: new Map(objects.server).set(old.uuid, old) };
  expect(present(old).args).toEqual(SHOWN);
  expect(change(before, "stripe", { args: SHOWN }).changes).toEqual([]);
});

test("the document has no secret, and applying it keeps them", () => {
  let objects = setUp();
  objects = patch(
    objects,
    { kind: "settings", reference: "" },
    { secrets: { KEY: "s3cret" } },
    at(3),
  ).objects;
  const document = exportDocument(objects);
  expect(JSON.stringify(document)).not.toMatch(/rk_1|t0ken|hunter2|s3cret|sealed/);
  expect(document.needs).toEqual([
    "/settings/secrets/KEY",
    "/servers/stripe/args/2",
    "/servers/stripe/args/4",
    "/servers/remote/url",
  ]);
  const { objects: applied } = applyDocument(objects, document, { source: "x.yaml" }, at(4));
  expect(spec(applied, "stripe")).toMatchObject({ args: ARGS });
  expect(spec(applied, "remote")).toMatchObject({ url: URL_TEXT });
  expect(settingsOf(applied)?.spec.secrets).toEqual(settingsOf(objects)?.spec.secrets);
});

test("${secret:NAME} works in args, url, env and headers, and a new value reaches the servers", () => {
  const settings = (objects: Objects, secrets: object) =>
    patch(objects, { kind: "settings", reference: "" }, { secrets }, at(3)).objects;
  let { objects } = create(
    settings(NO_OBJECTS, { KEY: "first", OTHER: "o" }),
    "server",
    { name: "a", command: "x", args: ["--token", "${secret:KEY}"], env: { BOTH: "${PLAIN}-${secret:KEY}" } },
    at(4),
  );
  objects = create(
    objects,
    "server",
    { name: "b", url: "https://x.example/${secret:KEY}", headers: { H: "${secret:KEY}" } },
    at(5),
  ).objects;
  expect(present(object(objects, "a")).args).toEqual(["--token", "${secret:KEY}"]);
  expect(present(settingsOf(objects) as StoredObject<"settings">).secrets).toEqual({
    KEY: "********",
    OTHER: "********",
  });
  const { compiled } = compile(objects, { entryContext, vault });
  const values = (from: Objects, before = compiled) => {
    const { servers } = compile(from, { entryContext, vault }, before).compiled;
    return [...servers.values()].map(
      ({ spec: made }) =>
        made && JSON.stringify({ ...made, shown: made.kind === "stdio" ? made.args : made.url }),
    );
  };
  expect(values(objects)).toEqual([
    expect.stringContaining('"first"'),
    expect.stringContaining("x.example/first"),
  ]);
  expect(spec(objects, "a")?.secrets?.map((secret) => secret.reveal())).toEqual(["first", "first"]);
  const next = settings(objects, { KEY: "second", OTHER: null });
  expect(values(next)).toEqual([
    expect.stringContaining('"second"'),
    expect.stringContaining("x.example/second"),
  ]);
  const gone = settings(objects, { KEY: null });
  const [broken] = compile(gone, { entryContext, vault }, compiled).compiled.servers.values();
  expect(broken?.reason).toMatch(/args\[1\] uses \$\{secret:KEY\}, but the gateway has no such secret/);
});
