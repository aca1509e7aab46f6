/**
 * Reads a server.json from a registry. Takes only checked members; one invalid member makes the whole entry
 * unusable. The result is a valid server.json again.
 */
import { summarize } from "../../catalog/summary.ts";
import { isKeys, type Keys } from "../../config/field.ts";
import {
  isExactRelease,
  isRegistryType,
  isServerName,
  isSha256,
  isVersion,
  type RegistryType,
  readUrl,
} from "./pattern.ts";
import { UnsupportedEntry } from "./unsupported-entry.ts";

export interface RegistryInput {
  readonly description?: string;
  readonly isRequired?: boolean;
  readonly isSecret?: boolean;
  readonly format?: string;
  /** The fixed value. */
  readonly value?: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** The variables that `{name}` in the value refers to. */
  readonly variables?: Readonly<Record<string, RegistryInput>>;
}

export interface KeyValue extends RegistryInput {
  readonly name: string;
}

export type Argument = RegistryInput &
  (
    | { readonly type: "positional"; readonly valueHint?: string }
    | { readonly type: "named"; readonly name: string }
  );

export interface Package {
  readonly registryType: RegistryType;
  readonly registryBaseUrl?: string;
  readonly identifier: string;
  readonly version?: string;
  readonly fileSha256?: string;
  readonly runtimeHint?: string;
  readonly transport: { readonly type: string };
  readonly runtimeArguments?: readonly Argument[];
  readonly packageArguments?: readonly Argument[];
  readonly environmentVariables?: readonly KeyValue[];
}

export interface RegistryRemote {
  readonly type: "streamable-http" | "sse";
  readonly url: string;
  readonly headers?: readonly KeyValue[];
  readonly variables?: Readonly<Record<string, RegistryInput>>;
}

export interface ServerJson {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version: string;
  readonly websiteUrl?: string;
  readonly repository?: { readonly url: string };
  readonly packages?: readonly Package[];
  readonly remotes?: readonly RegistryRemote[];
}

const MAX_DESCRIPTION_LENGTH = 300;
const MAX_TITLE_LENGTH = 100;
const MAX_VALUE_LENGTH = 4_096;
const MAX_PACKAGES = 32;
const MAX_INPUTS = 128;
const MAX_LENGTH = 65_536;

/** Returns the reason if the entry cannot be used. */
export function readServer(value: unknown): ServerJson | { readonly reason: string } {
  try {
    const server = serverIn(keysIn(value, "it"));
    if (JSON.stringify(server).length > MAX_LENGTH) throw new UnsupportedEntry("it is too large");
    return server;
  } catch (error) {
    if (error instanceof UnsupportedEntry) return { reason: error.message };
    throw error;
  }
}

function serverIn(keys: Keys): ServerJson {
  const name = textIn(keys["name"], "name");
  if (!isServerName(name)) throw new UnsupportedEntry("its name is invalid");
  const version = textIn(keys["version"], "version");
  if (!isVersion(version)) throw new UnsupportedEntry("its version is invalid");
  const title = prose(keys["title"], MAX_TITLE_LENGTH);
  const websiteUrl = linkIn(keys["websiteUrl"]);
  const repository = linkIn(isKeys(keys["repository"]) ? keys["repository"]["url"] : undefined);
  // Unknown kinds of packages are skipped; they do not make the entry invalid.
  const packages = listIn(keys["packages"], "packages", MAX_PACKAGES).flatMap(
    (item) => packageIn(item) ?? [],
  );
  const remotes = listIn(keys["remotes"], "remotes", MAX_PACKAGES).flatMap((item) => remoteIn(item) ?? []);
  return {
    name,
    ...(title && { title }),
    description: prose(keys["description"], MAX_DESCRIPTION_LENGTH) ?? "",
    version,
    ...(websiteUrl && { websiteUrl }),
    ...(repository && { repository: { url: repository } }),
    ...(packages.length > 0 && { packages }),
    ...(remotes.length > 0 && { remotes }),
  };
}

function packageIn(value: unknown): Package | undefined {
  const keys = keysIn(value, "a package");
  const registryType = textIn(keys["registryType"], "registryType");
  if (!isRegistryType(registryType)) return undefined;
  const identifier = textIn(keys["identifier"], "identifier");
  const version = optional(keys["version"], "version");
  if (!isExactRelease(registryType, identifier, version))
    throw new UnsupportedEntry("a package's identifier or version is invalid");
  const fileSha256 = optional(keys["fileSha256"], "fileSha256");
  if (fileSha256 === undefined ? registryType === "mcpb" : !isSha256(fileSha256))
    throw new UnsupportedEntry("a package's checksum is invalid");
  const registryBaseUrl = optional(keys["registryBaseUrl"], "registryBaseUrl");
  const runtimeHint = optional(keys["runtimeHint"], "runtimeHint");
  const runtimeArguments = argumentsIn(keys["runtimeArguments"], "runtimeArguments");
  const packageArguments = argumentsIn(keys["packageArguments"], "packageArguments");
  const environmentVariables = keyValuesIn(keys["environmentVariables"], "environmentVariables");
  return {
    registryType,
    ...(registryBaseUrl && { registryBaseUrl }),
    identifier,
    ...(version !== undefined && { version }),
    ...(fileSha256 && { fileSha256 }),
    ...(runtimeHint && { runtimeHint }),
    transport: { type: transportIn(keys["transport"]) },
    ...(runtimeArguments.length > 0 && { runtimeArguments }),
    ...(packageArguments.length > 0 && { packageArguments }),
    ...(environmentVariables.length > 0 && { environmentVariables }),
  };
}

/** The field is required by the schema, but entries without it exist and mean stdio. */
function transportIn(value: unknown): string {
  return value === undefined ? "stdio" : textIn(keysIn(value, "transport")["type"], "transport.type");
}

function remoteIn(value: unknown): RegistryRemote | undefined {
  const keys = keysIn(value, "a remote");
  const type = textIn(keys["type"], "type");
  if (type !== "streamable-http" && type !== "sse") return undefined;
  const url = textIn(keys["url"], "url");
  if (!/^(?:https?:\/\/\S+|\{[a-zA-Z_]\w*\}\S*)$/.test(url))
    throw new UnsupportedEntry("a remote's url is invalid");
  const headers = keyValuesIn(keys["headers"], "headers");
  const variables = variablesIn(keys["variables"]);
  return { type, url, ...(headers.length > 0 && { headers }), ...(variables && { variables }) };
}

function argumentsIn(value: unknown, what: string): readonly Argument[] {
  return listIn(value, what, MAX_INPUTS).map((item): Argument => {
    const keys = keysIn(item, what);
    const type = textIn(keys["type"], `${what}.type`);
    if (type === "named") return { type, name: textIn(keys["name"], `${what}.name`), ...inputIn(keys) };
    if (type !== "positional")
      throw new UnsupportedEntry(`${what}: an argument is neither positional nor named`);
    const valueHint = optional(keys["valueHint"], `${what}.valueHint`);
    return { type, ...(valueHint && { valueHint }), ...inputIn(keys) };
  });
}

function keyValuesIn(value: unknown, what: string): readonly KeyValue[] {
  return listIn(value, what, MAX_INPUTS).map((item) => {
    const keys = keysIn(item, what);
    return { name: textIn(keys["name"], `${what}.name`), ...inputIn(keys) };
  });
}

function inputIn(keys: Keys): RegistryInput {
  const variables = variablesIn(keys["variables"]);
  return { ...plainInputIn(keys), ...(variables && { variables }) };
}

function plainInputIn(keys: Keys): RegistryInput {
  const description = prose(keys["description"], MAX_DESCRIPTION_LENGTH);
  const format = optional(keys["format"], "format");
  const value = optional(keys["value"], "value");
  const fallback = optional(keys["default"], "default");
  const choices = listIn(keys["choices"], "choices", MAX_INPUTS).map((item) => textIn(item, "choices"));
  return {
    ...(description && { description }),
    ...(flagIn(keys["isRequired"], "isRequired") && { isRequired: true }),
    ...(flagIn(keys["isSecret"], "isSecret") && { isSecret: true }),
    ...(format && { format }),
    ...(value !== undefined && { value }),
    ...(fallback !== undefined && { default: fallback }),
    ...(choices.length > 0 && { choices }),
  };
}

function variablesIn(value: unknown): Readonly<Record<string, RegistryInput>> | undefined {
  if (value === undefined) return undefined;
  const entries = Object.entries(keysIn(value, "variables"));
  if (entries.length > MAX_INPUTS) throw new UnsupportedEntry("variables: too many");
  const named = entries.map(([name, item]) => {
    if (!/^[A-Za-z_][\w.-]{0,127}$/.test(name) || name === "__proto__")
      throw new UnsupportedEntry("a variable's name is invalid");
    return [name, plainInputIn(keysIn(item, "variables"))] as const;
  });
  return named.length > 0 ? Object.fromEntries(named) : undefined;
}

function keysIn(value: unknown, what: string): Keys {
  if (!isKeys(value)) throw new UnsupportedEntry(`${what} is not an object`);
  return value;
}

function listIn(value: unknown, what: string, maxItems: number): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new UnsupportedEntry(`${what} is not a list`);
  if (value.length > maxItems) throw new UnsupportedEntry(`${what}: too many`);
  return value;
}

/** A string for a command, a variable or a header. Must not contain control characters. */
function textIn(value: unknown, what: string): string {
  if (typeof value !== "string") throw new UnsupportedEntry(`${what} is not a string`);
  if (value.length > MAX_VALUE_LENGTH) throw new UnsupportedEntry(`${what} is too long`);
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value))
    throw new UnsupportedEntry(`${what} contains a control character`);
  return value;
}

function optional(value: unknown, what: string): string | undefined {
  return value === undefined || value === null ? undefined : textIn(value, what);
}

function flagIn(value: unknown, what: string): boolean {
  if (value !== undefined && value !== null && typeof value !== "boolean")
    throw new UnsupportedEntry(`${what} is neither true nor false`);
  return value === true;
}

/**
 * A text for people and models: one shortened line without control, format and other invisible characters.
 */
export function prose(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== "string") return undefined;
  // Cuts first, so that a huge text costs little. `\p{C}` also removes half a surrogate pair at the cut.
  const text = value
    .slice(0, maxLength * 4)
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .trim();
  return (text.length <= maxLength ? text : summarize(text, maxLength)) || undefined;
}

/** A link is only displayed, so an invalid one is dropped. */
function linkIn(value: unknown): string | undefined {
  const url = typeof value === "string" ? readUrl(value) : undefined;
  return url && url.href.length <= 512 ? url.href : undefined;
}
