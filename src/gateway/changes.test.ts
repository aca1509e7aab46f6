import { describe, expect, test } from "vitest";
import { create, patch, remove } from "./changes.ts";
import { contextAt } from "./context.fixture.ts";
import { importIntoDefault } from "./import-default.ts";
import { importServers } from "./import-servers.ts";
import { NO_OBJECTS, type Objects } from "./objects.ts";
import { etagOf, ifMatches, present } from "./present.ts";
import { Refusal } from "./refusal.ts";
import { changesConnection } from "./server-entry.ts";

const at = contextAt;

function refusal(run: () => unknown): Refusal {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}
const problems = (run: () => unknown) => refusal(run).details.errors?.map(({ path }) => path);

/** Two servers, a namespace with both, and an endpoint with the namespace. */
function setUp(): Objects {
  let objects: Objects = NO_OBJECTS;
  const made = (kind: "server" | "namespace" | "endpoint", input: unknown): void => {
    objects = create(objects, kind, input, at(1)).objects;
  };
  made("server", { name: "git", command: "git-mcp", env: { TOKEN: "s3cret", HOST: `\${GIT_HOST}` } });
  made("server", { name: "docs", url: "https://docs.example/mcp", headers: { Authorization: "Bearer x" } });
  made("namespace", { name: "dev", servers: [{ server: "git" }, { server: "docs" }] });
  made("endpoint", { name: "team", namespaces: ["dev"] });
  return objects;
}
const named = (objects: Objects, kind: "server" | "namespace" | "endpoint", name: string) =>
  [...objects[kind].values()].find((object) => object.name === name) as never as {
    uuid: string;
    spec: { env: Record<string, unknown>; servers: { server: string }[] };
    revision: number;
    managedBy: string;
    takenFrom?: string;
  };

describe("an object", () => {
  test("gets defaults, a UUID v7, and references as uuids", () => {
    const objects = setUp();
    const git = named(objects, "server", "git");
    expect(git.uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(git.spec).toMatchObject({ instances: 1, credentials: "shared", labels: [], disabled: false });
    expect(named(objects, "namespace", "dev").spec.servers[0]?.server).toBe(git.uuid);
    expect(named(objects, "endpoint", "team").spec).toMatchObject({
      surface: "meta",
      code: true,
      openapi: false,
      access: { public: false, keys: true, oauth: true, queryKey: false },
    });
  });

  test("with mistakes is refused with the path of each", () => {
    const objects = setUp();
    const server = (fields: object) => () =>
      create(objects, "server", { name: "x", command: "x", ...fields }, at(2));
    expect(problems(server({ comand: "y", instances: 17 }))).toEqual(["/comand", "/instances"]);
    expect(refusal(server({ comand: "y" })).details.errors?.[0]?.message).toContain('Did you mean "command"');
    expect(problems(server({ env: { "A=B": "1", C: 3 } }))).toEqual(["/env/A=B", "/env/C"]);
    expect(problems(server({ url: "https://x.example" }))).toEqual([""]);
    expect(problems(server({ timeoutMs: "soon", lifecycle: { idleTimeoutMs: -1 } }))).toEqual([
      "/timeoutMs",
      "/lifecycle/idleTimeoutMs",
    ]);
    expect(problems(() => create(objects, "server", { name: "x", url: "nonsense" }, at(2)))).toEqual([
      "/url",
    ]);
    expect(problems(() => create(objects, "server", { name: "metamcp", command: "x" }, at(2)))).toEqual([
      "/name",
    ]);
    expect(problems(server({ env: { A: "********" } }))).toEqual(["/env/A"]);
    expect(problems(server({ uuid: "1" }))).toEqual(["/uuid"]);
    expect(
      problems(() => create(objects, "namespace", { name: "n", servers: [{ server: "nobody" }] }, at(2))),
    ).toEqual(["/servers/0/server"]);
    expect(
      problems(() =>
        create(
          objects,
          "namespace",
          { name: "n", tools: [{ server: "git", tool: "a", args: { x: {} } }] },
          at(2),
        ),
      ),
    ).toEqual(["/tools/0/args/x"]);
  });

  test("that is nested too deep, or is not an object, is refused", () => {
    const objects = setUp();
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = { use: deep };
    const input = { name: "x", command: "x", middleware: [{ use: "y", options: deep }] };
    expect(refusal(() => create(objects, "server", input, at(2))).code).toBe("invalid");
    const { uuid } = named(objects, "server", "git");
    expect(refusal(() => patch(objects, { kind: "server", reference: uuid }, deep, at(2))).code).toBe(
      "invalid",
    );
    for (const wrong of [null, [], 1, "x"]) {
      expect(refusal(() => create(objects, "server", wrong, at(2))).code).toBe("invalid");
      expect(refusal(() => patch(objects, { kind: "server", reference: uuid }, wrong, at(2))).code).toBe(
        "invalid",
      );
    }
  });

  test("needs a unique name within its kind, compared in NFC and without case", () => {
    const objects = setUp();
    const taken = refusal(() => create(objects, "server", { name: "GIT", command: "x" }, at(2)));
    expect(taken).toMatchObject({ code: "name_taken" });
    expect(taken.details.objects?.[0]?.name).toBe("git");
    const cafe = create(objects, "server", { name: "caf\u00e9", command: "x" }, at(2)).objects;
    expect(refusal(() => create(cafe, "server", { name: "CAFE\u0301", command: "x" }, at(3))).code).toBe(
      "name_taken",
    );
    expect(create(objects, "namespace", { name: "git" }, at(2)).changes).toHaveLength(1);
    for (const name of [
      "",
      " ",
      "a/b",
      "a:b",
      "a\nb",
      "\ud800",
      "x".repeat(129),
      named(objects, "server", "git").uuid,
    ])
      expect(problems(() => create(objects, "server", { name, command: "x" }, at(2)))).toContain("/name");
    for (const name of ["-a", "a b", "a.b", "", "x".repeat(64)])
      expect(problems(() => create(objects, "endpoint", { name }, at(2)))).toEqual(["/name"]);
  });

  test("accepts the aliases of other clients", () => {
    const input = {
      name: "x",
      transport: "streamable-http",
      url: "https://x.example",
      enabled: false,
      tools: ["a"],
    };
    const { spec } = create(NO_OBJECTS, "server", input, at(1)).object;
    expect(spec).toMatchObject({ type: "http", disabled: true, tools: { allow: ["a"] } });
    expect(spec).not.toHaveProperty("enabled");
  });
});

describe("a patch", () => {
  test("changes the given fields and lists them", () => {
    const objects = setUp();
    const { uuid } = named(objects, "server", "git");
    const outcome = patch(
      objects,
      { kind: "server", reference: uuid },
      { labels: ["vcs"], timeoutMs: 5 },
      at(2),
    );
    expect(outcome.changes).toEqual([
      { op: "update", kind: "server", name: "git", uuid, fields: ["labels", "timeoutMs"] },
    ]);
    expect(outcome.object).toMatchObject({ revision: 2, createdAt: "1970-01-01T00:00:01.000Z" });
    expect(outcome.objects.namespace).toBe(objects.namespace);
    const back = patch(
      outcome.objects,
      { kind: "server", reference: "GIT" },
      { timeoutMs: null, labels: null },
      at(3),
    );
    expect(back.object.spec).toEqual(named(objects, "server", "git").spec);
  });

  test("with the shown values changes nothing", () => {
    const objects = setUp();
    for (const object of [
      ...objects.server.values(),
      ...objects.namespace.values(),
      ...objects.endpoint.values(),
    ]) {
      const sent = { ...present(object), status: { state: "idle" } };
      const outcome = patch(objects, { kind: object.kind, reference: object.uuid }, sent, at(2));
      expect(outcome.changes).toEqual([]);
      expect(outcome.objects).toBe(objects);
    }
    const { uuid } = named(objects, "server", "git");
    expect(
      problems(() => patch(objects, { kind: "server", reference: uuid }, { revision: 7 }, at(2))),
    ).toEqual(["/revision"]);
  });

  test("can remove known fields with null, and refuses misspelt names at any depth", () => {
    const objects = setUp();
    const of = (kind: "server" | "endpoint", reference: string, change: object) => () =>
      patch(objects, { kind, reference }, change, at(2));
    const wrong = {
      colour: null,
      createdAt: null,
      status: null,
      tools: { denny: null },
      oauth: { id: null },
    };
    expect(problems(of("server", "git", wrong))).toEqual([
      "/colour",
      "/createdAt",
      "/tools/denny",
      "/oauth/id",
    ]);
    expect(problems(of("endpoint", "team", { access: { alow: null } }))).toEqual(["/access/alow"]);
    const fine = { tools: { deny: null }, env: { NONE: null }, cwd: null, lifecycle: { mode: null } };
    expect(of("server", "git", fine)).not.toThrow();
    expect(of("endpoint", "team", { access: { allow: null } })).not.toThrow();
  });

  test("keeps masked secrets, and shows only references", () => {
    const objects = setUp();
    const git = named(objects, "server", "git");
    const shown = present(git as never) as unknown as { env: unknown };
    expect(shown.env).toEqual({ TOKEN: "********", HOST: `\${GIT_HOST}` });
    const to = (env: unknown) => patch(objects, { kind: "server", reference: git.uuid }, { env }, at(2));
    expect(to({ TOKEN: "********", NEW: "n" }).object.spec.env).toMatchObject({ TOKEN: git.spec.env.TOKEN });
    expect(to({ TOKEN: "s3cret" }).changes).toEqual([]);
    expect(to({ TOKEN: "other" }).changes[0]?.fields).toEqual(["env"]);
    expect(to({ TOKEN: null }).object.spec.env).toEqual({ HOST: `\${GIT_HOST}` });
    expect(problems(() => to({ MISSING: "********" }))).toEqual(["/env/MISSING"]);
    expect((present(to({ A: `\${A:-secret}` }).object) as unknown as { env: { A: string } }).env.A).toBe(
      "********",
    );
    expect(JSON.stringify(present(named(objects, "server", "docs") as never))).not.toContain("Bearer x");
  });

  test("with an old ETag is refused with the current object", () => {
    const objects = setUp();
    const { uuid } = named(objects, "server", "git");
    const { objects: next, object } = patch(
      objects,
      { kind: "server", reference: uuid },
      { labels: ["a"] },
      at(2),
    );
    expect(etagOf(object)).toBe('"2"');
    const late = refusal(() =>
      patch(next, { kind: "server", reference: uuid, ifMatch: '"1"' }, { labels: [] }, at(3)),
    );
    expect(late).toMatchObject({ code: "stale", details: { current: { revision: 2, labels: ["a"] } } });
    expect(
      patch(next, { kind: "server", reference: uuid, ifMatch: '"2"' }, { labels: [] }, at(3)).changes,
    ).toHaveLength(1);
    expect(ifMatches("*", 9)).toBe(true);
    expect(ifMatches('"1", "9"', 9)).toBe(true);
    expect(ifMatches('W/"9"', 9)).toBe(true);
    expect(ifMatches('"19"', 9)).toBe(false);
  });

  test("creates the settings if there are none", () => {
    const one = patch(NO_OBJECTS, { kind: "settings", reference: "" }, { registration: "closed" }, at(1));
    expect(one.object.spec).toEqual({
      secrets: {},
      registration: "closed",
      passwords: "on",
      middleware: [],
      limits: {},
      issuers: [],
    });
    const two = patch(one.objects, { kind: "settings", reference: "" }, { registration: null }, at(2));
    expect(two.object).toMatchObject({ uuid: one.object.uuid, spec: { registration: "open" } });
    expect(present(two.object)).not.toHaveProperty("name");
  });

  test("of an unknown object is refused with 404", () => {
    expect(refusal(() => patch(NO_OBJECTS, { kind: "server", reference: "x" }, {}, at(1))).code).toBe(
      "not_found",
    );
  });

  test("with an unknown layer is refused with its path", () => {
    const context = at(2, {
      layers: ({ use }) => (use === "known" ? [] : [{ path: "/use", message: "is unknown" }]),
    });
    const change = { middleware: [{ use: "known" }, { use: "other" }] };
    expect(problems(() => patch(setUp(), { kind: "endpoint", reference: "team" }, change, context))).toEqual([
      "/middleware/1/use",
    ]);
  });
});

describe("an override", () => {
  const change = (tools: readonly object[], listed?: readonly string[]) => () =>
    patch(
      setUp(),
      { kind: "namespace", reference: "dev" },
      { tools: tools.map((tool) => ({ server: "git", ...tool })) },
      at(2, { listed: () => listed }),
    );

  test("that gives two tools of a server the same name is refused, even if one is disabled; a swap is allowed", () => {
    const both = [
      { tool: "a", name: "x" },
      { tool: "b", name: "x", disabled: true },
    ];
    expect(refusal(change(both))).toMatchObject({ code: "collision" });
    expect(refusal(change(both)).message).toContain('"a"');
    expect(problems(change([{ tool: "a", name: "b" }, { tool: "b" }]))).toEqual(["/tools/1/name"]);
    const swap = [
      { tool: "a", name: "b" },
      { tool: "b", name: "a" },
    ];
    expect(change(swap, ["a", "b"])().changes).toHaveLength(1);
    expect(
      change([
        { tool: "a", name: "x" },
        { server: "docs", tool: "a", name: "x" },
      ])().changes,
    ).toHaveLength(1);
  });

  test("that uses the name of a listed tool is refused, unless the override existed before", () => {
    expect(problems(change([{ tool: "a", name: "c" }], ["a", "c"]))).toEqual(["/tools/0/name"]);
    const made = change([{ tool: "a", name: "c" }], ["a"])().objects;
    const later = at(3, { listed: () => ["a", "c"] });
    expect(
      patch(made, { kind: "namespace", reference: "dev" }, { description: "d" }, later).changes,
    ).toHaveLength(1);
    const swapped = change(
      [
        { tool: "a", name: "b" },
        { tool: "b", name: "a" },
      ],
      ["a", "b"],
    )().objects;
    const half = { tools: [{ server: "git", tool: "a", name: "b" }] };
    const context = at(3, { listed: () => ["a", "b"] });
    expect(refusal(() => patch(swapped, { kind: "namespace", reference: "dev" }, half, context)).code).toBe(
      "collision",
    );
  });
});

describe("removing an object", () => {
  test("that others use is refused with their names; force removes the references too", () => {
    const objects = setUp();
    const git = named(objects, "server", "git");
    const withTool = patch(
      objects,
      { kind: "namespace", reference: "dev" },
      { tools: [{ server: "git", tool: "a", disabled: true }] },
      at(2),
    ).objects;
    const used = refusal(() => remove(withTool, { kind: "server", reference: "git" }, at(3)));
    expect(used).toMatchObject({ code: "in_use" });
    expect(used.message).toContain('namespace "dev"');
    const { objects: after, changes } = remove(
      withTool,
      { kind: "server", reference: git.uuid, force: true },
      at(3),
    );
    expect(changes.map(({ op, name }) => `${op} ${name}`)).toEqual(["update dev", "delete git"]);
    expect(named(after, "namespace", "dev").spec).toMatchObject({ tools: [], servers: [{}] });
    expect(remove(objects, { kind: "endpoint", reference: "team" }, at(2)).changes).toHaveLength(1);
  });
});

describe("importing servers", () => {
  test("creates new servers, updates those of the same name, and keeps fields that files do not have", () => {
    const objects = patch(setUp(), { kind: "server", reference: "git" }, { labels: ["vcs"] }, at(2)).objects;
    const file = {
      mcpServers: {
        Git: { command: "git-mcp", args: ["--new"], env: { TOKEN: "s3cret" }, autoApprove: ["x"] },
        web: { type: "streamable-http", url: "https://web.example/mcp" },
      },
    };
    const outcome = importServers(objects, file, at(3));
    expect(outcome).toMatchObject({
      created: ["web"],
      updated: ["git"],
      warnings: ["Git: ignored autoApprove"],
    });
    const git = named(outcome.objects, "server", "git");
    expect(git.spec).toMatchObject({ labels: ["vcs"], args: ["--new"] });
    expect(git.spec.env).toEqual({ TOKEN: named(objects, "server", "git").spec.env.TOKEN });
    expect(importServers(outcome.objects, file, at(4)).changes).toEqual([]);
    expect(importServers(objects, file, at(3), { addOnly: true })).toMatchObject({
      created: ["web"],
      updated: [],
    });
  });

  test("changes nothing if one of them is invalid", () => {
    const file = { mcpServers: { good: { command: "x" }, bad: { command: 1 }, worse: 3 } };
    expect(problems(() => importServers(NO_OBJECTS, file, at(1)))).toEqual([
      "/mcpServers/bad/command",
      "/mcpServers/worse",
    ]);
    expect(problems(() => importServers(NO_OBJECTS, { mcpServers: [] }, at(1)))).toEqual(["/mcpServers"]);
  });

  test("into the default namespace and endpoint creates missing objects once, and changes no existing ones", () => {
    const file = { mcpServers: { a: { command: "a" }, b: { command: "b" } } };
    const first = importIntoDefault(NO_OBJECTS, file, at(1));
    expect(first.changes.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "server a",
      "server b",
      "namespace default",
      "endpoint default",
    ]);
    expect(named(first.objects, "endpoint", "default").spec).toMatchObject({
      surface: "meta",
      access: { keys: true },
    });
    expect(importIntoDefault(first.objects, file, at(2)).objects).toBe(first.objects);

    const reference = "default";
    const less = patch(
      first.objects,
      { kind: "namespace", reference },
      { servers: [{ server: "a" }] },
      at(2),
    ).objects;
    const more = { mcpServers: { a: { command: "other" }, b: { command: "b" }, c: { command: "c" } } };
    const { objects } = importIntoDefault(less, more, at(3));
    expect(
      named(objects, "namespace", "default").spec.servers.map(
        ({ server }) => objects.server.get(server)?.name,
      ),
    ).toEqual(["a", "c"]);
    expect(named(objects, "server", "a").spec).toMatchObject({ command: "a" });
  });
});

test("changesConnection is true only for fields that affect the connection", () => {
  expect(changesConnection(["labels", "name", "tools", "description"])).toBe(false);
  expect(changesConnection(["labels", "env"])).toBe(true);
});
