import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { temp } from "../../test/support/temp.ts";
import { checkServer } from "../config/server.ts";
import type { RemoteSpec } from "../config/spec.ts";
import { secretInFile } from "./file.ts";
import { storeInKeychain } from "./keychain.ts";
import { resolveSecrets } from "./resolve.ts";

const { PATH } = process.env;
afterEach(() => {
  process.env["PATH"] = PATH;
});

/** The value of a header that contains this text. */
async function resolved(
  text: string,
  env: NodeJS.ProcessEnv = {},
  folder = "/",
): Promise<string | undefined> {
  const entry = { url: "https://example.com/", headers: { A: text } };
  const { result } = checkServer("s", entry, { path: `${folder}/mcp.json`, folder, env });
  if (result === "disabled" || !("spec" in result)) throw new Error(JSON.stringify(result));
  return (await resolveSecrets(result.spec as RemoteSpec, env)).headers["A"]?.reveal();
}

describe("a file", () => {
  test("gives its content without the line break at its end", async () => {
    const folder = temp();
    const path = folder.write("token", "one two\n");
    expect(await resolved(`Bearer \${file:${path}}!`)).toBe("Bearer one two!");
    expect(await resolved("${file:token}", {}, folder.path("."))).toBe("one two");
  });

  test.each([
    ["missing", () => {}, "does not exist"],
    ["empty", (path: string) => writeFileSync(path, "\n"), "is empty"],
    ["too large", (path: string) => writeFileSync(path, "x".repeat(70_000)), "larger than"],
    ["a pipe that nobody writes", (path: string) => void execFileSync("mkfifo", [path]), "is not a file"],
    ["binary", (path: string) => writeFileSync(path, "a\0b"), "NUL"],
  ])("that is %s gives the reason at once", async (_what, make, why) => {
    const path = temp().path("secret");
    make(path);
    await expect(resolved(`\${file:${path}}`)).rejects.toThrow(why);
    await expect(resolved(`\${file:${path}}`)).rejects.toThrow(`\${file:${path}}`);
  });

  test("in a gateway no link leads out of the allowed places, nor to the key of the gateway", async () => {
    const folder = temp();
    for (const name of ["allowed", "home/gateway"]) mkdirSync(folder.path(name), { recursive: true });
    folder.write("outside", "outside");
    folder.write("allowed/real", "inside");
    folder.write("home/gateway/secret.key", "key");
    const [allowed, home] = [folder.path("allowed"), folder.path("home")];
    const at = async (name: string, within = [allowed]) =>
      await secretInFile(folder.path(name), { within, home });
    symlinkSync("real", folder.path("allowed/link"));
    symlinkSync(folder.path("outside"), folder.path("allowed/out"));
    symlinkSync(folder.path("home/gateway/secret.key"), folder.path("allowed/key"));
    expect(await at("allowed/link")).toBe("inside");
    await expect(at("allowed/out")).rejects.toThrow("did not allow");
    for (const within of [[allowed], [folder.path("allowed/key")], [""], ["/"]])
      await expect(at("allowed/key", within)).rejects.toThrow("a file of MetaMCP itself");
    await expect(at("home/gateway/secret.key", ["/"])).rejects.toThrow("a file of MetaMCP itself");
  });
});

/** Puts a program on the PATH that runs these lines of sh. */
function program(name: string, lines: string): void {
  const folder = temp();
  chmodSync(folder.write(name, `#!/bin/sh\n${lines}\n`), 0o755);
  process.env["PATH"] = `${folder.path(".")}${delimiter}${PATH}`;
}

describe("1Password", () => {
  test("gets the reference as one argument", async () => {
    program("op", `[ "$#" = 3 ] && printf '%s' "$1 $2 $3"`);
    expect(await resolved("${op://My vault/a;b/$(id)}")).toBe("read --no-newline op://My vault/a;b/$(id)");
  });

  test("tells why it does not give a secret", async () => {
    program("op", "echo 'not signed in' >&2; exit 1");
    await expect(resolved("${op://v/i/f}")).rejects.toThrow(/not signed in.*op signin/);
  });

  test("that is not installed is named", async () => {
    process.env["PATH"] = "/nowhere";
    await expect(resolved("${op://v/i/f}")).rejects.toThrow(/no program "op": install/);
  });
});

describe.runIf(process.platform === "linux")("the keychain", () => {
  const KEYCHAIN = `
case "$1" in
  store) cat > "$DIR/$7" ;;
  lookup) cat "$DIR/$5" 2>/dev/null || exit 1 ;;
esac`;

  test("keeps what was stored, by its name", async () => {
    const folder = temp();
    program("secret-tool", `DIR=${folder.path(".")}${KEYCHAIN}`);
    await storeInKeychain("TOKEN", 'it\'s a "value"');
    expect(await resolved("${keychain:TOKEN}")).toBe('it\'s a "value"');
    await expect(resolved("${keychain:OTHER}")).rejects.toThrow(/no secret "OTHER".*secret-tool store/);
    const hostile = resolved("${keychain:$(id) `id` it's}");
    await expect(hostile).rejects.toThrow("account '$(id) `id` it'\\''s'");
    await expect(storeInKeychain("X", "two\nlines")).rejects.toThrow(/one line/);
  });

  test("that is locked or away says so", async () => {
    program("secret-tool", "echo 'Cannot autolaunch D-Bus' >&2; exit 1");
    await expect(resolved("${keychain:TOKEN}")).rejects.toThrow(/does not answer: Cannot autolaunch/);
  });
});

describe("Vault", () => {
  const asked: { url: string; token: unknown }[] = [];

  async function vault(answer: (url: string, response: ServerResponse) => void): Promise<NodeJS.ProcessEnv> {
    asked.length = 0;
    const server = createServer((request, response) => {
      asked.push({ url: request.url ?? "", token: request.headers["x-vault-token"] });
      answer(request.url ?? "", response);
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return { VAULT_ADDR: `http://127.0.0.1:${port}/`, VAULT_TOKEN: "vault-token-1" };
  }

  const json = (response: ServerResponse, body: unknown) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));

  test("version 1 and 2 of its key-value engine are read", async () => {
    const env = await vault((url, response) =>
      json(
        response,
        url.includes("/data/") ? { data: { data: { k: "v2" }, metadata: {} } } : { data: { k: "v1" } },
      ),
    );
    expect(await resolved("${vault:kv/data/a b#k}", env)).toBe("v2");
    expect(await resolved("${vault:kv/a#k}", env)).toBe("v1");
    expect(asked).toEqual([
      { url: "/v1/kv/data/a%20b", token: "vault-token-1" },
      { url: "/v1/kv/a", token: "vault-token-1" },
    ]);
    // An encoded ".." stays a name: Vault gets it encoded once more.
    await resolved("${vault:kv/%2e%2e/a?x#k}", env);
    expect(asked.at(-1)?.url).toBe("/v1/kv/%252e%252e/a%3Fx");
    await expect(resolved("${vault:kv/a#other}", env)).rejects.toThrow(/no text "other" at kv\/a, only k/);
  });

  test("the token is read from a file", async () => {
    const env = await vault((_url, response) => json(response, { data: { k: "v" } }));
    const { VAULT_TOKEN: _, ...rest } = env;
    const VAULT_TOKEN_FILE = temp().write("vault-token", "from-a-file\n");
    await resolved("${vault:a#k}", { ...rest, VAULT_TOKEN_FILE });
    expect(asked[0]?.token).toBe("from-a-file");
    await expect(resolved("${vault:a#k}", { ...rest, HOME: "/nowhere" })).rejects.toThrow(/set VAULT_TOKEN/);
    await expect(resolved("${vault:a#k}", {})).rejects.toThrow(/set VAULT_ADDR/);
  });

  test("a redirect is not followed, so the token reaches nobody else", async () => {
    const other = await vault((_url, response) => json(response, { data: { k: "v" } }));
    const target = `${other["VAULT_ADDR"]}v1/a`;
    const env = await vault((_url, response) => response.writeHead(307, { location: target }).end());
    await expect(resolved("${vault:a#k}", env)).rejects.toThrow("status 307");
    expect(asked.map(({ url }) => url)).toEqual(["/v1/a"]);
  });

  test.each([
    [403, /refuses the token/],
    [404, /nothing at a: .*secret\/data\/a/],
    [503, /status 503/],
  ])("status %i is explained", async (status, why) => {
    const env = await vault((_url, response) => response.writeHead(status).end("{}"));
    await expect(resolved("${vault:a#k}", env)).rejects.toThrow(why);
  });

  test.each([
    ["a page", (response: ServerResponse) => response.end("<html>")],
    ["a huge answer", (response: ServerResponse) => response.end("x".repeat(2 << 20))],
    ["a broken connection", (response: ServerResponse) => response.destroy()],
  ])("%s is a reason, and no text of it", async (_what, answer) => {
    const env = await vault((_url, response) => answer(response));
    const error = (await resolved("${vault:a#k}", env).catch((reason: unknown) => reason)) as Error;
    expect(error.message).toMatch(/does not answer like Vault|larger than|cannot be reached/);
    expect(error.message).not.toMatch(/<html>|vault-token-1/);
  });
});
