/**
 * Reads the part of a server entry that says how to reach it, and resolves variables. Reads no file and uses
 * no network, so references to secrets stay until the server is reached.
 */

import { resolve } from "node:path";
import { expandTilde } from "../home/home.ts";
import { didYouMean } from "../kernel/nearest.ts";
import { Secret, secretsFrom } from "../kernel/secret.ts";
import { readConfinement } from "./confinement.ts";
import type { EntryContext } from "./entry-context.ts";
import { type Findings, isKeys, type Keys, kindOf, text, textMap, texts } from "./field.ts";
import { checkSecurityKeys, otherNameFor } from "./keys.ts";
import { readPlain } from "./plain-fields.ts";
import { Resolver } from "./resolver.ts";
import { OAUTH } from "./schemas.ts";
import { SERVER_FIELDS } from "./server-fields.ts";
import type { CommonSpec, McpRemoteSpec, OAuthSpec, OpenApiSpec, OperationRules, StdioSpec } from "./spec.ts";

type Dial = Pick<CommonSpec, "secrets" | "references"> &
  (
    | Omit<StdioSpec, keyof CommonSpec>
    | Omit<McpRemoteSpec, keyof CommonSpec>
    | Omit<OpenApiSpec, keyof CommonSpec>
  );

/** The words for a transport in config files of all clients. */
export const KINDS: Readonly<Record<string, Dial["kind"]>> = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  streamable: "http",
  streamablehttp: "http",
  streamable_http: "http",
  sse: "sse",
  openapi: "openapi",
};
const KEY_OF: Readonly<Record<Dial["kind"], string>> = {
  stdio: "command",
  http: "url",
  sse: "url",
  openapi: "openapi",
};
const TYPE_KEYS = ["type", ...SERVER_FIELDS.type.aliases] as const;
const OAUTH_KEYS = Object.keys(OAUTH.anyOf[1].properties);

/** Undefined after a fault. */
export function readDial(entry: Keys, context: EntryContext, findings: Findings): Dial | undefined {
  const declared = declaredKind(entry, findings);
  const [key, ...others] = ["command", "url", "openapi"].filter((one) => entry[one] !== undefined);
  if (key !== undefined && others.length > 0)
    return findings.fault([], `it has both ${key} and ${others.join(" and ")}: keep one of them`);
  if (key === undefined) {
    return findings.fault(
      [],
      `it needs a command (a local server), a url (a remote one) or openapi (an HTTP API)${otherNameFor(entry)}`,
    );
  }
  const resolver = new Resolver(context, findings);
  const dial =
    key === "url"
      ? readRemote(entry, declared, resolver)
      : key === "openapi"
        ? readOpenApi(entry, context, resolver)
        : readStdio(entry, context, resolver);
  if (declared && !KEY_OF[declared].includes(key)) {
    const needed = KEY_OF[declared];
    findings.fault(
      ["type"],
      `it is declared as ${declared} but has ${key === "openapi" ? key : `a ${key}`}: give it ${needed === "openapi" ? needed : `a ${needed}`}, or remove the type`,
    );
  }
  resolver.report();
  if (findings.faults.length > 0) return undefined;
  return {
    ...dial,
    ...(resolver.secrets.length > 0 && { secrets: resolver.secrets }),
    ...(resolver.referring.length > 0 && { references: resolver.referring }),
  };
}

function declaredKind(entry: Keys, findings: Findings): Dial["kind"] | undefined {
  const found = new Set<Dial["kind"]>();
  for (const key of TYPE_KEYS) {
    const value = entry[key];
    if (value === undefined) continue;
    const word = typeof value === "string" ? value.toLowerCase() : "";
    const kind = Object.hasOwn(KINDS, word) ? KINDS[word] : undefined;
    const written = typeof value === "string" ? `"${value.slice(0, 40)}"` : kindOf(value);
    if (kind) found.add(kind);
    else {
      findings.fault(
        [key],
        `${key} is ${written}: write "stdio", "http", "sse" or "openapi".${didYouMean(word, Object.keys(KINDS))}`,
      );
    }
  }
  if (found.size > 1)
    findings.fault(["type"], `${TYPE_KEYS.join(", ")} are names for the same setting but differ: keep one`);
  return found.values().next().value;
}

function readStdio(entry: Keys, context: EntryContext, resolver: Resolver): Dial {
  const { folder, env } = context;
  const { findings } = resolver;
  const command = Array.isArray(entry["command"])
    ? findings.fault(["command"], "command is a list: write its first item as command and the rest as args")
    : text(entry["command"], ["command"], findings)?.trim();
  if (command === "") findings.fault(["command"], "command is empty: write the program to start");
  const written = entry["cwd"] === undefined ? folder : text(entry["cwd"], ["cwd"], findings);
  const cwd = resolver.resolve(written ?? "", ["cwd"], (path) => resolve(folder, expandTilde(path, env)));
  return {
    kind: "stdio",
    command: resolver.resolve(command ?? "", ["command"], (path) => expandTilde(path, env)),
    args: texts(entry["args"], ["args"], findings).map((arg, index) =>
      resolver.resolve(arg, ["args", index]),
    ),
    env: secretsFrom(
      environment(resolver.resolveAll(textMap(entry["env"], "env", findings), "env"), findings),
    ),
    inheritEnv: inherited(entry["inheritEnv"], findings),
    cwd,
    ...readConfinement(entry, cwd, context, resolver),
    ...readPlain(entry, "stdio", findings),
  };
}

function environment(values: Readonly<Record<string, string>>, findings: Findings): typeof values {
  for (const name of Object.keys(values)) {
    if (name === "" || /[=\0]/.test(name))
      findings.fault(["env", name], `env has an invalid variable name: "${name}"`);
  }
  return values;
}

function inherited(value: unknown, findings: Findings): readonly string[] | true {
  if (value === true) return true;
  if (value === undefined || value === false) return [];
  if (!Array.isArray(value))
    findings.fault(["inheritEnv"], `inheritEnv is ${kindOf(value)}: write true or a list of names`);
  return Array.isArray(value) ? texts(value, ["inheritEnv"], findings) : [];
}

function readRemote(entry: Keys, declared: Dial["kind"] | undefined, resolver: Resolver): Dial {
  const { findings } = resolver;
  const url = resolver.resolve(text(entry["url"], ["url"], findings)?.trim() ?? "", ["url"], withHost);
  if (findings.faults.length === 0 && resolver.complete) checkUrl(url, "url", findings);
  return { kind: declared === "sse" ? "sse" : "http", url, ...readCredentials(entry, resolver) };
}

function readCredentials(entry: Keys, resolver: Resolver) {
  const { findings } = resolver;
  const headers = resolver.resolveAll(textMap(entry["headers"], "headers", findings), "headers", sendable);
  for (const name of Object.keys(headers)) checkHeaderName(name, findings);
  return {
    headers: secretsFrom(headers),
    oauth: readOAuth(entry["oauth"], resolver),
    ...readPlain(entry, "remote", findings),
  };
}

function readOpenApi(entry: Keys, { folder, env }: EntryContext, resolver: Resolver): Dial {
  const { findings } = resolver;
  const read = (key: "openapi" | "baseUrl"): string | undefined =>
    entry[key] === undefined
      ? undefined
      : resolver.resolvePlain(text(entry[key], [key], findings)?.trim() ?? "", [key]);
  const [document = "", baseUrl] = [read("openapi"), read("baseUrl")];
  const isAddress = /^https?:/i.test(document);
  const openapi = isAddress ? document : resolve(folder, expandTilde(document, env));
  if (findings.faults.length === 0 && resolver.complete) {
    if (isAddress) checkUrl(document, "openapi", findings);
    else if (document === "" || /^[a-z][a-z\d+.-]+:/i.test(document))
      findings.fault(["openapi"], "openapi is neither a web address nor the path of a file");
    else if (baseUrl === undefined)
      findings.fault(["baseUrl"], 'openapi is a file, so the entry needs the address of the API: "baseUrl"');
    if (baseUrl !== undefined) checkUrl(baseUrl, "baseUrl", findings);
  }
  return {
    kind: "openapi",
    openapi,
    baseUrl,
    url: baseUrl ?? openapi,
    operations: readOperations(entry["operations"], findings),
    ...readCredentials(entry, resolver),
  };
}

function readOperations(value: unknown, findings: Findings): OperationRules {
  if (value === undefined) return { allow: undefined, deny: [] };
  if (!isKeys(value)) {
    findings.fault(["operations"], `operations is ${kindOf(value)}: write { "allow": […], "deny": […] }`);
    return { allow: [], deny: [] };
  }
  checkSecurityKeys("operations", value, ["allow", "deny"], findings);
  const list = (key: "allow" | "deny"): readonly string[] => texts(value[key], ["operations", key], findings);
  return { allow: value["allow"] === undefined ? undefined : list("allow"), deny: list("deny") };
}

/** A secret in the place of the host would decide where all others are sent. */
function withHost(url: string): string {
  if (/^\w+:\/\/[^/?#]*\$\{\w+:/.test(url)) throw new Error("has a secret as host: write the host itself");
  return url;
}

function checkUrl(url: string, key: string, findings: Findings): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    findings.fault([key], `${key} is not a web address: write it in full, as "https://example.com/mcp"`);
  } else if (parsed.username || parsed.password) {
    findings.fault(
      [key],
      `${key} contains a user name or password: send them as a header, "headers": { "Authorization": "…" }`,
    );
  }
}

function checkHeaderName(name: string, findings: Findings): void {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    findings.fault(["headers", name], `headers has an invalid header name: "${name}"`);
}

/** Trims the value, because a token that was read from a file often ends with a line break. */
function sendable(value: string): string {
  const trimmed = value.trim();
  if (!isSendable(trimmed))
    throw new Error("contains a character that is not allowed in a header (such as a line break)");
  return trimmed;
}

function isSendable(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code !== 9 && (code < 32 || code > 255 || code === 127)) return false;
  }
  return true;
}

function readOAuth(value: unknown, resolver: Resolver): OAuthSpec | undefined {
  const { findings } = resolver;
  if (value === undefined || value === false) return undefined;
  if (value === true) return {};
  if (!isKeys(value))
    return findings.fault(
      ["oauth"],
      `oauth is ${kindOf(value)}: write true or { clientId, clientSecret, scopes }`,
    );
  const read = (key: string): string | undefined => {
    const written = value[key] === undefined ? undefined : text(value[key], ["oauth", key], findings);
    return written === undefined ? undefined : resolver.resolve(written, ["oauth", key]);
  };
  checkSecurityKeys("oauth", value, OAUTH_KEYS, findings);
  const { scopes } = value;
  const [clientId, clientSecret] = [read("clientId"), read("clientSecret")];
  const [clientMetadataUrl, privateKey] = [read("clientMetadataUrl"), read("privateKey")];
  const grant = machineGrantIn(value, findings);
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret: new Secret(clientSecret) }),
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    ...(grant && { grant }),
    ...(privateKey === undefined ? {} : { privateKey: new Secret(privateKey) }),
    ...(scopes === undefined
      ? {}
      : {
          scopes:
            typeof scopes === "string"
              ? scopes.split(/\s+/).filter(Boolean)
              : texts(scopes, ["oauth", "scopes"], findings),
        }),
  };
}

/** With the grant for machines the client must be able to prove itself without a person. */
function machineGrantIn(
  { grant, clientId, clientSecret, privateKey }: Keys,
  findings: Findings,
): OAuthSpec["grant"] {
  if (grant === undefined) {
    if (privateKey !== undefined)
      findings.fault(["oauth", "privateKey"], 'oauth.privateKey needs "grant": "client_credentials"');
    return undefined;
  }
  if (grant !== "client_credentials")
    return findings.fault(["oauth", "grant"], 'oauth.grant can only be "client_credentials"');
  if (clientId === undefined || (clientSecret === undefined) === (privateKey === undefined))
    findings.fault(["oauth", "grant"], "oauth.grant needs clientId, and either clientSecret or privateKey");
  return grant;
}
