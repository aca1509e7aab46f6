import { describe, expect, test } from "vitest";
import { create, patch, remove } from "../changes.ts";
import { contextAt } from "../context.fixture.ts";
import { find } from "../names.ts";
import { NO_OBJECTS, type Objects } from "../objects.ts";
import { Refusal } from "../refusal.ts";
import { type ApplyOptions, applyDocument } from "./apply.ts";
import { exportDocument } from "./document.ts";
import { readText } from "./yaml.ts";

const at = contextAt;
const DOCUMENT = {
  version: 1,
  settings: { registration: "closed" },
  middleware: [{ use: "audit" }],
  servers: {
    git: { command: "git-mcp", env: { TOKEN: "secret", HOST: `\${HOST}` } },
    docs: {
      url: "https://docs.example/mcp",
      headers: { "X-Key": "k" },
      oauth: { clientId: "i", clientSecret: "c" },
    },
  },
  namespaces: {
    dev: {
      servers: { git: {}, docs: { prefix: "none" } },
      tools: { "git:push": { disabled: true }, "docs:a:b": { name: "ab" } },
    },
  },
  endpoints: { team: { namespaces: ["dev"], surface: "aggregate", access: { keys: false } } },
};

const apply = (objects: Objects, document: unknown, options: ApplyOptions = {}, revision = 2) =>
  applyDocument(objects, document, options, at(revision));
const made = (options: ApplyOptions = {}) => apply(NO_OBJECTS, DOCUMENT, options, 1).objects;

function refusal(run: () => unknown): Refusal {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}

describe("a document", () => {
  test("is exported with names instead of ids, without defaults and secrets, and lists the needed secrets", () => {
    const { needs, ...document } = exportDocument(made());
    expect(document).toEqual({
      ...DOCUMENT,
      servers: {
        git: { command: "git-mcp", env: { HOST: `\${HOST}` } },
        docs: { url: "https://docs.example/mcp", headers: {}, oauth: { clientId: "i" } },
      },
    });
    expect(needs).toEqual([
      "/servers/git/env/TOKEN",
      "/servers/docs/headers/X-Key",
      "/servers/docs/oauth/clientSecret",
    ]);
  });

  test("keeps the private key of a client as it keeps other secrets", () => {
    const oauth = { grant: "client_credentials", clientId: "i", privateKey: "the-key" };
    const servers = { docs: { url: "https://docs.example/mcp", oauth } };
    const first = apply(NO_OBJECTS, { ...DOCUMENT, servers, namespaces: {}, endpoints: {} }, {}, 1).objects;
    const exported = exportDocument(first);
    expect(JSON.stringify(exported)).not.toContain("the-key");
    expect([...first.server.values()][0]?.spec.oauth).toMatchObject({
      privateKey: { sealed: expect.any(String) },
    });
    expect(apply(first, exported).objects).toBe(first);
  });

  test("changes nothing when applied a second time, with or without secrets", () => {
    const objects = made();
    expect(apply(objects, DOCUMENT).changes).toEqual([]);
    expect(apply(objects, exportDocument(objects)).objects).toBe(objects);
  });

  test("resets omitted fields to their defaults, but keeps secrets unless they are null", () => {
    const objects = made();
    const env = (fields: object) => {
      const servers = { ...DOCUMENT.servers, git: { command: "git-mcp", ...fields } };
      const after = apply(objects, { ...DOCUMENT, servers }).objects;
      return Object.keys(find(after.server, "git")?.spec.env ?? {});
    };
    expect(env({})).toEqual(["TOKEN"]);
    expect(env({ env: { NEW: "n" } })).toEqual(["TOKEN", "NEW"]);
    expect(env({ env: { TOKEN: null } })).toEqual([]);
    const labelled = patch(objects, { kind: "server", reference: "git" }, { labels: ["x"] }, at(2)).objects;
    expect(apply(labelled, DOCUMENT).changes).toMatchObject([
      { op: "update", name: "git", fields: ["labels"] },
    ]);
  });

  test("renames a server by uuid, and references follow", () => {
    const objects = made();
    const uuid = find(objects.server, "git")?.uuid;
    const document = {
      version: 1,
      servers: { GitHub: { uuid, command: "git-mcp", env: { HOST: `\${HOST}` } } },
      namespaces: { dev: { servers: { GitHub: {} } } },
    };
    const outcome = apply(objects, document);
    expect(outcome.changes).toMatchObject([
      { op: "update", kind: "server", name: "GitHub", uuid, fields: ["name"] },
      { op: "update", kind: "namespace", fields: ["servers", "tools"] },
    ]);
    const stranger = {
      version: 1,
      servers: { x: { uuid: "01900000-0000-7000-8000-000000000000", command: "x" } },
    };
    expect(refusal(() => apply(objects, stranger)).details.errors?.[0]?.path).toBe("/servers/x/uuid");
    const twice = {
      version: 1,
      servers: { git: { command: "git-mcp" }, other: { uuid, command: "git-mcp" } },
    };
    expect(refusal(() => apply(objects, twice)).details.errors?.[0]?.path).toBe("/servers/other");
  });

  test("with mistakes changes nothing, and reports each with its path", () => {
    const document = {
      version: 2,
      servers: { git: { comand: "x" } },
    };
    expect(refusal(() => apply(NO_OBJECTS, document)).details.errors?.map(({ path }) => path)).toEqual([
      "/version",
    ]);
    const wrong = {
      version: 1,
      extra: 1,
    };
    expect(refusal(() => apply(NO_OBJECTS, wrong)).details.errors?.map(({ path }) => path)).toEqual([
      "/extra",
    ]);
    const twofold = { version: 1, settings: { middleware: [] }, middleware: [] };
    expect(refusal(() => apply(NO_OBJECTS, twofold)).details.errors?.map(({ path }) => path)).toEqual([
      "/settings/middleware",
    ]);
    const renamed = { version: 1, servers: { git: { name: "hub", command: "x" } } };
    expect(refusal(() => apply(NO_OBJECTS, renamed)).details.errors?.map(({ path }) => path)).toEqual([
      "/servers/git/name",
    ]);
    const deeper = {
      version: 1,
      settings: { registration: "maybe" },
      servers: { git: { command: "x", instances: 0 }, "a:b": { command: "x" } },
      namespaces: {
        dev: { servers: { nobody: {}, git: { prefx: "x" } }, tools: { "git:x/y": { name: "a b" } } },
        bad: 1,
      },
      endpoints: { team: { namespaces: ["none"] } },
    };
    expect(refusal(() => apply(NO_OBJECTS, deeper)).details.errors?.map(({ path }) => path)).toEqual([
      "/servers/git/instances",
      "/servers/a:b/name",
      "/namespaces/dev/servers/git/prefx",
      "/namespaces/dev/tools/git:x~1y/name",
      "/namespaces/bad",
      "/endpoints/team/namespaces/0",
      "/settings/registration",
    ]);
  });

  test("is read from YAML or JSON, and problems have line numbers", async () => {
    const read = await readText(
      "version: 1\nservers:\n  x:\n    command: y\n    args: [1,\n      2]\n  a/b: {}\n",
    );
    expect(read.value).toEqual({ version: 1, servers: { x: { command: "y", args: [1, 2] }, "a/b": {} } });
    const at = (path: string) => read.problemText([{ path, message: "is odd" }]);
    expect(at("/servers/x/command")).toBe("line 4: /servers/x/command is odd");
    expect(["/servers/x/args/1", "/servers/a~1b/name", "/servers/x/none/more", "/none", ""].map(at)).toEqual([
      "line 6: /servers/x/args/1 is odd",
      "line 7: /servers/a~1b/name is odd",
      "line 3: /servers/x/none/more is odd",
      "line 1: /none is odd",
      "line 1: is odd",
    ]);
    expect((await readText(JSON.stringify(DOCUMENT))).value).toEqual(DOCUMENT);
    await expect(readText("version: 1\nservers: {x: [}\n")).rejects.toThrow(/line 2, column/);
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${["b", "c", "d", "e"].map((key, at) => `${key}: &${key} [${Array(9).fill(`*${"abcd"[at]}`).join(",")}]`).join("\n")}\n`;
    await expect(readText(bomb)).rejects.toBeInstanceOf(Refusal);
  });
});

describe("an object managed by a file", () => {
  test("is read-only for the API without takeOver; after takeOver the file does not change it", () => {
    const objects = made({ source: "team.yaml" });
    expect(find(objects.server, "git")?.managedBy).toBe("file:team.yaml");
    const change = { kind: "server", reference: "git" } as const;
    const refused = refusal(() => patch(objects, change, { labels: ["x"] }, at(2)));
    expect(refused).toMatchObject({ code: "managed" });
    expect(refused.message).toContain("team.yaml");
    expect(refusal(() => remove(objects, { ...change, force: true }, at(2))).code).toBe("managed");

    const taken = patch(objects, { ...change, takeOver: true }, { labels: ["x"] }, at(2)).objects;
    expect(find(taken.server, "git")?.managedBy).toBe("api");
    const again = apply(taken, DOCUMENT, { source: "team.yaml", prune: true }, 3);
    expect(again).toMatchObject({ changes: [], left: [{ kind: "server", name: "git" }] });
    const forced = apply(taken, DOCUMENT, { source: "team.yaml", takeOver: true }, 3).objects;
    expect(find(forced.server, "git")).toMatchObject({ managedBy: "file:team.yaml", spec: { labels: [] } });
  });

  test("cannot be changed by another file or the API, but applying equal values is allowed", () => {
    const objects = made({ source: "team.yaml" });
    expect(refusal(() => apply(objects, DOCUMENT, { source: "other.yaml" })).code).toBe("managed");
    expect(apply(objects, DOCUMENT).changes).toEqual([]);
    const changed = {
      ...DOCUMENT,
      servers: { ...DOCUMENT.servers, git: { command: "git-mcp", labels: ["x"] } },
    };
    expect(refusal(() => apply(objects, changed)).code).toBe("managed");
    const mine = create(NO_OBJECTS, "server", { name: "git", command: "x" }, at(1)).objects;
    expect(find(apply(mine, DOCUMENT, { source: "f" }).objects.server, "git")?.managedBy).toBe("file:f");
  });

  test("is pruned only by its file; without a source only objects of the API are pruned", () => {
    const both = create(made({ source: "f" }), "server", { name: "mine", command: "x" }, at(2)).objects;
    const less = { version: 1, servers: { docs: DOCUMENT.servers.docs } };
    const deleted = (options: ApplyOptions, document: unknown = less) =>
      apply(both, document, options, 3).changes.flatMap(({ op, name }) => (op === "delete" ? [name] : []));
    expect(deleted({ source: "f", prune: true })).toEqual(["git", "dev", "team"]);
    expect(deleted({ source: "f" })).toEqual([]);
    expect(deleted({ prune: true }, { version: 1 })).toEqual(["mine"]);
    const used = refusal(() =>
      apply(made(), { version: 1, namespaces: { dev: { servers: { git: {} } } } }, { prune: true }),
    );
    expect(used).toMatchObject({ code: "in_use", details: { objects: [{ name: "dev" }] } });
  });
});
