import { expect, test } from "vitest";
import { create, patch, settingsOf } from "./changes.ts";
import { compile } from "./compile.ts";
import { contextAt as at } from "./context.fixture.ts";
import { applyDocument } from "./document/apply.ts";
import { exportDocument } from "./document/document.ts";
import { NO_OBJECTS, type Objects } from "./objects.ts";
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
  [...objects.server.values()].find((one) => one.name === name) as NonNullable<
    ReturnType<typeof Array.prototype.find>
  >;
const spec = (objects: Objects, name: string) =>
  compile(objects, { entryContext, vault }).compiled.servers.get(object(objects, name).uuid)?.spec;
const change = (objects: Objects, reference: string, fields: object) =>
  patch(objects, { kind: "server", reference }, fields, at(3));

test("secrets in args and url are sealed, shown masked, and given to the server", () => {
  const objects = setUp();
  expect(JSON.stringify(object(objects, "stripe").spec)).toContain('{"sealed":');
  expect(object(objects, "stripe").spec.args.map((arg: unknown) => typeof arg)).toEqual(
    SHOWN.map((text) => (text.includes("*") ? "object" : "string")),
  );
  expect(present(object(objects, "stripe"))["args"]).toEqual(SHOWN);
  expect(present(object(objects, "remote"))["url"]).toBe("https://x.example/mcp?api_key=********&org=acme");
  expect(spec(objects, "stripe")).toMatchObject({ args: ARGS });
  expect(spec(objects, "remote")).toMatchObject({ url: URL_TEXT });
});

test("a mask that is sent back keeps the secret of the same option, and only of that", () => {
  const objects = setUp();
  expect(change(objects, "stripe", { args: SHOWN }).changes).toEqual([]);
  expect(change(objects, "stripe", { args: ARGS }).changes).toEqual([]);
  const less = change(objects, "stripe", { args: ["--verbose", "--token", "********"] }).objects;
  expect(spec(less, "stripe")).toMatchObject({ args: ["--verbose", "--token", "t0ken"] });
  for (const [name, fields] of [
    ["stripe", { args: ["--other", "********"] }],
    ["stripe", { args: ["--password=********"] }],
    ["stripe", { args: ["--token", "********", "--token", "********"] }],
    ["remote", { url: "https://evil.example/mcp?api_key=********&org=acme" }],
  ] as const)
    expect(() => change(objects, name, fields)).toThrow(Refusal);
});

test("a masked header is not sent to another host, and stays at the same one", () => {
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
  ]) {
    expect(moved(url), url).toThrow(Refusal);
    expect(moved(url, { Authorization: "********" }), url).toThrow(Refusal);
  }
  expect(moved("https://X.example/other?a=1")).not.toThrow();
  expect(moved("https://evil.example/mcp", { Authorization: "Bearer new" })).not.toThrow();
  expect(moved("https://evil.example/mcp", { Authorization: null })).not.toThrow();
});

test("a text that was stored before secrets were sealed is masked too", () => {
  const objects = setUp();
  const old = { ...object(objects, "stripe"), spec: { ...object(objects, "stripe").spec, args: ARGS } };
  const before = { ...objects, server: new Map(objects.server).set(old.uuid, old) };
  expect(present(old)["args"]).toEqual(SHOWN);
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
  expect(present(object(objects, "a"))["args"]).toEqual(["--token", "${secret:KEY}"]);
  expect(present(settingsOf(objects) as never)["secrets"]).toEqual({ KEY: "********", OTHER: "********" });
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
