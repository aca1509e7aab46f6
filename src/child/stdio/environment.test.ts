import { expect, test } from "vitest";
import { secretsFrom } from "../../kernel/secret.ts";
import { childEnvironment, environmentOf } from "./environment.ts";

const own = { env: {}, inheritEnv: [] };

test("a child gets variables that programs need, and no secrets", () => {
  const parent = {
    PATH: "/bin",
    HOME: "/home/a",
    LANG: "C",
    LC_TIME: "de_DE",
    TERM: "xterm",
    TMPDIR: "/t",
    https_proxy: "http://p",
    HTTP_PROXY: "http://q",
    no_proxy: "localhost",
    NODE_EXTRA_CA_CERTS: "/ca.pem",
    SSL_CERT_FILE: "/ca",
    XDG_RUNTIME_DIR: "/run/user/1",
  };
  const secrets = {
    GITHUB_TOKEN: "x",
    AWS_SECRET_ACCESS_KEY: "x",
    METAMCP_TOKEN: "x",
    DATABASE_URL: "x",
    NODE_OPTIONS: "--inspect",
    METAMCP_CHILD: "outer",
  };
  expect(childEnvironment(own, { ...parent, ...secrets }, "linux")).toEqual(parent);
});

test("a child gets variables inherited by name, and its own env overrides them", () => {
  const spec = {
    env: secretsFrom({ HOME: "/elsewhere", KEY: "own" }),
    inheritEnv: ["KEY", "TOKEN", "ABSENT"],
  };
  expect(childEnvironment(spec, { HOME: "/home/a", KEY: "parent", TOKEN: "t", OTHER: "o" }, "linux")).toEqual(
    {
      HOME: "/elsewhere",
      KEY: "own",
      TOKEN: "t",
    },
  );
});

test("inheritEnv: true passes all variables", () => {
  const parent = { ANY: "thing", PATH: "/bin", NOT: undefined };
  expect(childEnvironment({ env: {}, inheritEnv: true }, parent, "darwin")).toEqual({
    ANY: "thing",
    PATH: "/bin",
  });
});

test("names of variables are case-insensitive on Windows", () => {
  const parent = { Path: "C:\\bin", SystemRoot: "C:\\Windows", UserProfile: "u", Secret: "s", Other: "o" };
  const spec = { env: secretsFrom({ PATH: "D:\\bin" }), inheritEnv: ["OTHER"] };
  expect(childEnvironment(spec, parent, "win32")).toEqual({
    PATH: "D:\\bin",
    SystemRoot: "C:\\Windows",
    UserProfile: "u",
    Other: "o",
  });
});

test("a child gets the caches of package runners, and no other setting of them", () => {
  const caches = {
    npm_config_cache: "/tmp/npm",
    UV_CACHE_DIR: "/tmp/uv",
    XDG_CACHE_HOME: "/c",
    PIP_CACHE_DIR: "/p",
  };
  const secrets = {
    "npm_config_//registry.example/:_authToken": "x",
    npm_config_registry: "https://user:token@registry.example",
    NPM_TOKEN: "x",
    UV_INDEX_URL: "https://user:token@index.example",
    PIP_INDEX_URL: "https://user:token@index.example",
  };
  expect(childEnvironment(own, { ...caches, ...secrets }, "linux")).toEqual(caches);
});

test("a child of another user gets the folders of that user", () => {
  const user = { name: "mcp", uid: 1001, gid: 1001, home: "/servers" };
  const parent = {
    PATH: "/bin",
    HOME: "/root",
    USER: "root",
    TMPDIR: "/root/tmp",
    XDG_RUNTIME_DIR: "/run/user/0",
    npm_config_cache: "/root/.npm",
    https_proxy: "http://p",
  };
  const env = { PATH: "/bin", https_proxy: "http://p", HOME: "/servers", USER: "mcp", LOGNAME: "mcp" };
  expect(childEnvironment(own, environmentOf(user, parent), "linux")).toEqual(env);
  const spec = { env: secretsFrom({ TMPDIR: "/own" }), inheritEnv: [] };
  expect(childEnvironment(spec, environmentOf(user, parent), "linux")).toEqual({ ...env, TMPDIR: "/own" });
});
