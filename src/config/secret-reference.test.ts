import { describe, expect, test } from "vitest";
import { secretsFrom } from "../kernel/secret.ts";
import { referencesOf, withSecretValues } from "./referring.ts";
import { secretParts, secretProblem, secretReferences } from "./secret-reference.ts";
import { rememberSecret } from "./secret-values.ts";
import { maskFor } from "./secrets.ts";
import { checkServer } from "./server.ts";
import type { RemoteSpec, ServerSpec, StdioSpec } from "./spec.ts";
import { filledIn } from "./user-values.ts";

const CONTEXT = { path: "/home/ada/mcp.json", folder: "/home/ada", env: { HOME: "/home/ada" } };
const URL = "https://example.com/mcp";

function read(entry: object, context: object = {}): ServerSpec | string {
  const { result } = checkServer("s", entry, { ...CONTEXT, ...context });
  if (result === "disabled") throw new Error("disabled");
  return "spec" in result ? result.spec : result.reason;
}

const remote = (entry: object, context?: object) => read({ url: URL, ...entry }, context) as RemoteSpec;
const values = (pairs: Record<string, string>) => new Map(Object.entries(pairs));
const header = ({ headers }: RemoteSpec, name: string) => headers[name]?.reveal();

test("a text is divided at its references, and nothing of it is lost", () => {
  const text = "a ${file:/x y} b${op://v/i/f}${vault:kv/data/x#k}${keychain:n} ${VAR} ${other:x} ${file:";
  const parts = secretParts(text);
  expect(parts.map((part) => (typeof part === "string" ? part : part.written)).join("")).toBe(text);
  expect(secretReferences(text).map(({ kind, name }) => [kind, name])).toEqual([
    ["file", "/x y"],
    ["op", "v/i/f"],
    ["vault", "kv/data/x#k"],
    ["keychain", "n"],
  ]);
  expect(secretParts("")).toEqual([""]);
});

test.each([
  ["${file:}", "malformed"],
  ["${op://vault/item}", "malformed"],
  ["${vault:path}", "malformed"],
  ["${vault:a/../b#k}", '".."'],
  ["${op://v/../f}", '".."'],
  ["${keychain:--help}", "malformed"],
])("%s cannot be used: %s", (written, why) => {
  const [reference] = secretReferences(written);
  expect(reference && secretProblem(reference, undefined)).toContain(why);
});

describe("rules of a gateway", () => {
  const rules = { file: ["/run/secrets"], vault: ["kv/data/team/"], op: ["Team"] };
  test.each([
    ["${file:/run/secrets/token}", true],
    ["${file:/run/secrets-of-others/token}", false],
    ["${file:/run/secrets/../../etc/shadow}", false],
    ["${file:run/secrets/token}", false],
    ["${file:~/token}", false],
    ["${vault:kv/data/team/github#token}", true],
    ["${vault:kv/data/teammate#token}", false],
    ["${op://Team/github/token}", true],
    ["${op://Teams/github/token}", false],
    ["${op://Team#2/github/token}", false],
    ["${file:/run/secrets#2}", false],
    ["${file:/run//secrets/token}", false],
    ["${file:/run/secrets/%2e%2e/token}", true],
    ["${vault:kv/data/team/%2e%2e/other#token}", true],
    ["${vault:kv/data/team/../other#token}", false],
    ["${vault:kv/data/team#token#token}", false],
    ["${vault:KV/data/team/github#token}", false],
    ["${keychain:anything}", false],
  ])("%s: %s", (written, allowed) => {
    const [reference] = secretReferences(written);
    expect((reference && secretProblem(reference, rules)) === undefined).toBe(allowed);
  });

  test("without rules a gateway allows none, and the reason names the setting", () => {
    const reason = remote({ headers: { A: "${file:/run/secrets/x}" } }, { secretRules: {} });
    expect(reason).toContain('{ "secretSources": { "file": ["/run/secrets/"] } }');
  });
});

test("references work in every text that takes variables", () => {
  const spec = read({
    command: "${file:/c}",
    args: ["--key=${op://v/i/f}", "${HOME}"],
    env: { A: "x${vault:p#k}" },
    cwd: "${file:/d}",
  }) as StdioSpec;
  expect(referencesOf(spec)).toHaveLength(4);
  const filled = withSecretValues(
    spec,
    values({ "${file:/c}": "~/bin/run", "${op://v/i/f}": "1", "${vault:p#k}": "2", "${file:/d}": "sub" }),
  ) as StdioSpec;
  expect([filled.command, filled.cwd, ...filled.args]).toEqual([
    "/home/ada/bin/run",
    "/home/ada/sub",
    "--key=1",
    "/home/ada",
  ]);
  expect(filled.env["A"]?.reveal()).toBe("x2");
  const login = withSecretValues(
    remote({ url: `${URL}?key=\${file:/k}`, oauth: { clientId: "a", clientSecret: "${file:/s}" } }),
    values({ "${file:/k}": "K", "${file:/s}": "S" }),
  ) as RemoteSpec;
  expect([login.url, login.oauth?.clientSecret?.reveal()]).toEqual([`${URL}?key=K`, "S"]);
});

test("what a confined server may touch cannot be a secret", () => {
  const confined = (more: object) => read({ command: "node", sandbox: true, ...more });
  expect(confined({ cwd: "${file:/d}" })).toContain("write the folder");
  expect(confined({ sandbox: { write: ["${file:/d}"] } })).toContain(
    "sandbox.write[0] cannot be a reference",
  );
});

test("paths are relative to the config file", () => {
  const [one, two] = referencesOf(remote({ headers: { A: "${file:secrets/a}", B: "${file:~/b}" } }));
  expect([one?.name, two?.name]).toEqual(["/home/ada/secrets/a", "/home/ada/b"]);
});

test("the value of a variable is never read as a reference", () => {
  const spec = remote({ headers: { A: "${EVIL}" } }, { env: { EVIL: "${file:/etc/shadow}" } });
  expect(spec.references).toBeUndefined();
  expect(header(spec, "A")).toBe("${file:/etc/shadow}");
});

test("the value of an account is never read as a reference, even where one stands", () => {
  const spec = remote({ headers: { A: "${user.secret.A}", B: "${file:/b}" } });
  const own = filledIn(spec, new Map([["secret.A", "${file:/b}"]]), "ada");
  const filled = withSecretValues(own, values({ "${file:/b}": "inner" })) as RemoteSpec;
  expect([header(filled, "A"), header(filled, "B")]).toEqual(["${file:/b}", "inner"]);
  expect(remote({ headers: { A: "${user.secret.A} ${file:/b}" } })).toContain("use one of them");
  const replaced = { ...spec, headers: secretsFrom({ A: "a", B: "of somebody else" }) };
  expect(header(withSecretValues(replaced, values({ "${file:/b}": "x" })) as RemoteSpec, "B")).toBe(
    "of somebody else",
  );
});

test("a secret cannot be the host, nor break a header", () => {
  expect(remote({ url: "https://${vault:a#b}.example.com/" })).toContain("write the host itself");
  expect(remote({ url: "https://${op://a/b/c}/" })).toContain("write the host itself");
  const spec = remote({ headers: { A: "Bearer ${file:/a}" } });
  expect(() => withSecretValues(spec, values({ "${file:/a}": "x\r\nEvil: 1" }))).toThrow(/not allowed/);
  expect(header(withSecretValues(spec, values({ "${file:/a}": "x\n" })) as RemoteSpec, "A")).toBe("Bearer x");
});

test("every value that a reference had is masked, and the reference itself is not", () => {
  const spec = remote({ headers: { A: "Bearer ${file:/masked}" } });
  expect(maskFor(spec)("no ${file:/masked} in first-value")).toBe("no ${file:/masked} in first-value");
  rememberSecret("${file:/masked}", "first-value");
  expect(maskFor(spec)("${file:/masked} is first-value")).toBe("${file:/masked} is [secret]");
  rememberSecret("${file:/masked}", "second-value");
  expect(maskFor(spec)("first-value second-value")).toBe("[secret] [secret]");
});
