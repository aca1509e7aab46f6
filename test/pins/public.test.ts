/**
 * Exact literals of everything public. A change here is a change for users: never weaken a pin to make it
 * pass.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { safeNames } from "../../src/child/stdio/environment.ts";
import { envOf, flagOf, type Table } from "../../src/config/command-line.ts";
import { FLAGS } from "../../src/config/flags.ts";
import { GATEWAY_FLAGS, SERVE_FLAGS } from "../../src/config/gateway-flags.ts";
import { SERVER_KEYS, TOP_KEYS } from "../../src/config/keys.ts";
import { ERRORS } from "../../src/kernel/errors.ts";
import { gateway } from "../support/gateway.ts";
import { ROOT, temp } from "../support/temp.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

test("the library exports exactly these names", async () => {
  const library = (await import(join(ROOT, "dist/index.mjs"))) as object;
  expect(Object.keys(library).toSorted()).toEqual([
    "ChildFailure",
    "MetaMcpError",
    "createMetaMcp",
    "fromRaw",
    "readMessage",
    "toRaw",
    "writeMessage",
  ]);
  const types = [...read("src/index.ts").matchAll(/^\s+(?:type )?(?:\w+ as )?([A-Z]\w+),$|\{ ([^}]*) \}/gm)]
    .flatMap(([, one, several]) => one ?? several?.split(", ") ?? [])
    .toSorted();
  expect(types).toEqual([
    "Call",
    "CallOptions",
    "ChildFailure",
    "CodeResult",
    "CodeRun",
    "ConfigFile",
    "Connector",
    "DiscoverOptions",
    "Discovery",
    "ErrorCode",
    "ErrorContext",
    "Executor",
    "Explanation",
    "FoundPrompt",
    "FoundResources",
    "FoundServer",
    "FoundTool",
    "FoundTools",
    "Handler",
    "Hit",
    "Host",
    "Layer",
    "LayerRequest",
    "Limits",
    "Link",
    "LinkEvents",
    "ListRule",
    "Log",
    "LogFields",
    "LogLevel",
    "Malformed",
    "Message",
    "MetaMcp",
    "MetaMcpError",
    "MetaMcpOptions",
    "Middleware",
    "Origin",
    "OutCall",
    "Outcome",
    "OwnLayerContext",
    "OwnLayerKind",
    "Principal",
    "PromptResult",
    "Raw",
    "Readiness",
    "ResourceResult",
    "SearchOptions",
    "SearchStrategy",
    "ServerSpec",
    "ServerText",
    "Signal",
    "SurfaceName",
    "Tool",
    "ToolFacts",
    "ToolResult",
    "Transport",
    "Uplink",
    "createMetaMcp",
    "fromRaw",
    "readMessage",
    "toRaw",
    "writeMessage",
  ]);
});

test("the package exports exactly these contracts", async () => {
  const contracts = (await import(join(ROOT, "dist/contract.mjs"))) as object;
  expect(Object.keys(contracts).toSorted()).toEqual([
    "connectorContract",
    "executorContract",
    "layerContract",
    "middlewareContract",
    "searchContract",
    "transportContract",
  ]);
});

test("the error codes and their retryability are these", () => {
  const retryable = Object.entries(ERRORS).map(([code, traits]) => [code, traits.retryable]);
  expect(Object.fromEntries(retryable)).toEqual({
    tool_not_found: false,
    server_not_found: false,
    server_unavailable: true,
    pool_exhausted: true,
    no_backends: false,
    backend_override_invalid: false,
    backend_override_no_match: false,
    validation_input: false,
    validation_output: false,
    execution_failed: false,
    stream_not_supported: false,
    stream_failed: false,
    chain_step_failed: false,
    auth_required: false,
    forbidden: false,
    rate_limited: true,
    result_too_large: false,
    sandbox_limit: false,
    sandbox_terminated: false,
    cancelled: false,
    timeout: "idempotent",
    internal: false,
  });
});

test("the tools of the meta surface are byte for byte these", async () => {
  const folder = temp();
  folder.writeConfig({});
  const client = gateway(folder);
  await client.initialize();
  const { raw } = await client.request("tools/list");
  await client.close();
  const result = /"result":(.*)\}$/.exec(raw.toString())?.[1] ?? "";
  expect(Buffer.byteLength(result)).toBeLessThan(2_200);
  await expect(`${result}\n`).toMatchFileSnapshot("meta-tools-list.txt");
});

test("the flags and environment variables are these", async () => {
  const rows: Table = FLAGS;
  const flags = Object.keys(rows).filter((key) => rows[key]?.flag !== false);
  expect(flags.map(flagOf).join(" ")).toBe(
    "--config --middleware-dir --surface --transport --host --port --tls --tls-cert --tls-key --access-log --stateless --json-response " +
      "--session-timeout --heartbeat --max-connections --idle-timeout --failure-threshold --cooldown --registry-url --no-code " +
      "--no-notify --pin --allow-origin --allow-host --no-auth --max-message --log-level --log-file --json --help --version",
  );
  const names = Object.entries(rows).flatMap(([key, row]) =>
    row.env === false ? [] : [envOf(key), ...(row.aliases ?? [])],
  );
  const beyondFlags = names.filter((name) => !flags.map(envOf).includes(name));
  await expect(`${beyondFlags.toSorted().join("\n")}\n`).toMatchFileSnapshot("environment-names.txt");
});

test("the keys of the config file are these, and all are documented", () => {
  expect(TOP_KEYS.join(" ")).toBe(
    "mcpServers pool maxResultBytes autoMaxBytes pinned examples embedder middleware sandbox skills",
  );
  expect(SERVER_KEYS.join(" ")).toBe(
    "command args env inheritEnv cwd sandbox instances url headers oauth openapi baseUrl operations type transport transportType lifecycle criticality timeoutMs " +
      "deadlineMs connectTimeoutMs disabled enabled tools isolation placement retry prefix examples middleware",
  );
  const page = read("docs/config.md");
  for (const key of [...TOP_KEYS, ...SERVER_KEYS]) expect(page, key).toContain(`\`${key}\``);
});

test("every child gets exactly these variables of our environment", () => {
  const common =
    "PATH HOME LANG LANGUAGE TERM TMPDIR USER LOGNAME SHELL TZ " +
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY FTP_PROXY http_proxy https_proxy all_proxy no_proxy ftp_proxy " +
    "NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA NODE_USE_ENV_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE " +
    "CURL_CA_BUNDLE AWS_CA_BUNDLE GIT_SSL_CAINFO PIP_CERT CARGO_HTTP_CAINFO DENO_CERT NIX_SSL_CERT_FILE " +
    "npm_config_cache NPM_CONFIG_CACHE UV_CACHE_DIR UV_PYTHON_INSTALL_DIR UV_TOOL_DIR PIP_CACHE_DIR PIPX_HOME DENO_DIR " +
    "BUN_INSTALL_CACHE_DIR YARN_CACHE_FOLDER PLAYWRIGHT_BROWSERS_PATH";
  const xdg = "XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME";
  expect(safeNames("linux").join(" ")).toBe(
    `${common} ${xdg} XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY XAUTHORITY`,
  );
  expect(safeNames("darwin").join(" ")).toBe(`${common} __CF_USER_TEXT_ENCODING ${xdg}`);
  expect(safeNames("win32").join(" ")).toBe(
    `${common} ALLUSERSPROFILE APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS OS PATHEXT ` +
      "PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) SYSTEMDRIVE SYSTEMROOT TEMP TMP USERDOMAIN " +
      "USERNAME USERPROFILE WINDIR",
  );
});

test("the settings page has every variable of every command", () => {
  const page = read("docs/settings.md");
  for (const table of [FLAGS, SERVE_FLAGS, GATEWAY_FLAGS] as readonly Table[])
    for (const [key, row] of Object.entries(table))
      expect(page).toContain(row.env === false ? flagOf(key) : `\`${envOf(key)}\``);
});

test.each([
  ["the generated documentation is up to date", "docs.mjs"],
  ["the lockfile is complete and names no registry", "lock.mjs"],
])("%s", async (_what, script) => {
  const check = promisify(execFile)(process.execPath, [join(ROOT, "scripts", script), "--check"]);
  await expect(check).resolves.toMatchObject({ stderr: "" });
});

test("the import table in ARCHITECTURE.md equals the enforced one", () => {
  const { forbidden } = createRequire(import.meta.url)(join(ROOT, ".dependency-cruiser.cjs")) as {
    forbidden: readonly { name: string; to: { pathNot?: string } }[];
  };
  const rules = forbidden.flatMap(({ name, to }) => {
    const folder = /^(.+)-imports-down$/.exec(name)?.[1];
    const may = /\((.*)\)/.exec(to.pathNot ?? "")?.[1]?.split("|") ?? [];
    return folder === undefined ? [] : [[folder, may.filter((one) => one !== folder).toSorted()]];
  });
  expect(rules.length).toBeGreaterThan(10);
  const rows = read("ARCHITECTURE.md").matchAll(/^\| `([\w-]+)\/` \|.*\| ([\w, ()-]+) \|$/gm);
  const documented = [...rows].map(([, folder, may = ""]) => [
    folder,
    may === "nothing"
      ? []
      : may
          .replaceAll(/ \(.*?\)/g, "")
          .split(", ")
          .toSorted(),
  ]);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(rules));
});
