/**
 * Checks names, versions and identifiers of a server.json by the official schema (2025-12-11) and the rules
 * of each package registry. Stricter where a name could be read as a path, an option or a version range.
 */

const ALL_TYPES = ["npm", "pypi", "oci", "nuget", "mcpb"] as const;
export type RegistryType = (typeof ALL_TYPES)[number];

export function isRegistryType(value: string): value is RegistryType {
  return (ALL_TYPES as readonly string[]).includes(value);
}

const MAX_NAME_LENGTH = 200;
const MAX_VERSION_LENGTH = 255;
const MAX_URL_LENGTH = 2_048;

const SERVER_NAME = /^[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?\/[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?$/;
const VERSION = /^[0-9A-Za-z](?:[0-9A-Za-z._+-]*[0-9A-Za-z])?$/;
const WILDCARD = /(?:^|\.)[xX*](?:\.|$)/;

export function isServerName(name: string): boolean {
  return name.length >= 3 && name.length <= MAX_NAME_LENGTH && SERVER_NAME.test(name) && !name.includes("..");
}

/** Whether it is one release. A tag such as "latest" or a range can name another release later. */
export function isVersion(version: string): boolean {
  return (
    version.length <= MAX_VERSION_LENGTH &&
    VERSION.test(version) &&
    !version.includes("..") &&
    !WILDCARD.test(version) &&
    version.toLowerCase() !== "latest"
  );
}

const SEMVER_REST = String.raw`(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$`;
const SEMVER = new RegExp(String.raw`^\d+\.\d+\.\d+${SEMVER_REST}`);
const NUGET_VERSION = new RegExp(String.raw`^\d+\.\d+(?:\.\d+){0,2}${SEMVER_REST}`);
/**
 * The repetition is bounded, because "rc" also matches as "r" and "c", so backtracking would take exponential
 * time.
 */
const PEP440 =
  /^(?:\d{1,4}!)?\d+(?:\.\d+)*(?:[-_.]?(?:alpha|beta|preview|pre|post|rev|dev|rc|a|b|c|r)[-_.]?\d*){0,4}(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?$/i;

const NPM_NAME = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;
const PYPI_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const NUGET_NAME = /^[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*$/;

const HOST_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const IMAGE_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const IMAGE = new RegExp(
  `^((?:(?:localhost|${HOST_LABEL}(?:\\.${HOST_LABEL})+)(?::\\d{1,5})?/)?${IMAGE_PART}(?:/${IMAGE_PART})*)` +
    "(?::([A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(sha256:[a-f0-9]{64}))?$",
);

export interface Image {
  /** With the host, if the reference has one. */
  readonly repository: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

export function readImage(reference: string): Image | undefined {
  if (reference.length > 512) return undefined;
  const [, repository, tag, digest] = IMAGE.exec(reference) ?? [];
  return repository && tag !== "latest" ? { repository, tag, digest } : undefined;
}

const IS_VALID: Readonly<Record<RegistryType, (identifier: string, version: string | undefined) => boolean>> =
  {
    npm: (id, version = "") =>
      id.length <= 214 && NPM_NAME.test(id) && !id.includes("..") && SEMVER.test(version),
    pypi: (id, version = "") =>
      id.length <= 200 && PYPI_NAME.test(id) && !id.includes("..") && PEP440.test(version),
    nuget: (id, version = "") => id.length <= 100 && NUGET_NAME.test(id) && NUGET_VERSION.test(version),
    oci(id, version) {
      const image = readImage(id);
      // Without a tag the version is used, never "latest".
      return image !== undefined && (image.tag ?? image.digest ?? version) !== undefined;
    },
    mcpb: (id) => readUrl(id) !== undefined,
  };

/** Whether identifier and version name exactly one release of one package. */
export function isExactRelease(type: RegistryType, identifier: string, version: string | undefined): boolean {
  if (version !== undefined && !(type === "pypi" ? version.length <= MAX_VERSION_LENGTH : isVersion(version)))
    return false;
  return IS_VALID[type](identifier, version);
}

export function isSha256(text: string): boolean {
  return /^[a-f0-9]{64}$/.test(text);
}

/**
 * Parses an http or https address in plain ASCII, without credentials and white space; undefined for anything
 * else.
 */
export function readUrl(text: string): URL | undefined {
  if (
    text.length > MAX_URL_LENGTH ||
    !/^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i.test(text) ||
    !URL.canParse(text)
  )
    return undefined;
  const url = new URL(text);
  return url.username === "" && url.password === "" ? url : undefined;
}

/**
 * Whether it can be the name of an environment variable. Excludes `__proto__`, because names become object
 * keys.
 */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name) && name !== "__proto__";
}

/** Headers of the connection, which an entry must not set. */
const CONNECTION_HEADERS =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|accept|mcp-.*|proxy-.*|sec-.*)$/i;

export function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(name) && !CONNECTION_HEADERS.test(name);
}
