/** What names, versions and identifiers of a server.json may look like: the official schema (2025-12-11) and the rules of each package registry, stricter where a name could be read as a path, an option or a range. */

const ALL_TYPES = ["npm", "pypi", "oci", "nuget", "mcpb"] as const;
export type RegistryType = (typeof ALL_TYPES)[number];

export function isRegistryType(value: string): value is RegistryType {
  return (ALL_TYPES as readonly string[]).includes(value);
}

const LONGEST_NAME = 200;
const LONGEST_VERSION = 255;
const LONGEST_URL = 2_048;

const SERVER_NAME = /^[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?\/[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?$/;
const VERSION = /^[0-9A-Za-z](?:[0-9A-Za-z._+-]*[0-9A-Za-z])?$/;
const WILDCARD = /(?:^|\.)[xX*](?:\.|$)/;

export function isServerName(name: string): boolean {
  return name.length >= 3 && name.length <= LONGEST_NAME && SERVER_NAME.test(name) && !name.includes("..");
}

/** One release; a tag such as "latest" or a range names another one tomorrow. */
export function isVersion(version: string): boolean {
  return (
    version.length <= LONGEST_VERSION &&
    VERSION.test(version) &&
    !version.includes("..") &&
    !WILDCARD.test(version) &&
    version.toLowerCase() !== "latest"
  );
}

const SEMVER_REST = String.raw`(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$`;
const SEMVER = new RegExp(String.raw`^\d+\.\d+\.\d+${SEMVER_REST}`);
const NUGET_VERSION = new RegExp(String.raw`^\d+\.\d+(?:\.\d+){0,2}${SEMVER_REST}`);
/** The repetition is bounded: "rc" can be read as "r" and "c", and doubts without end take time without end. */
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
  /** With its host where it names one. */
  readonly repository: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

export function readImage(reference: string): Image | undefined {
  if (reference.length > 512) return undefined;
  const [, repository, tag, digest] = IMAGE.exec(reference) ?? [];
  return repository && tag !== "latest" ? { repository, tag, digest } : undefined;
}

const FITS: Readonly<Record<RegistryType, (identifier: string, version: string | undefined) => boolean>> = {
  npm: (id, version = "") =>
    id.length <= 214 && NPM_NAME.test(id) && !id.includes("..") && SEMVER.test(version),
  pypi: (id, version = "") =>
    id.length <= 200 && PYPI_NAME.test(id) && !id.includes("..") && PEP440.test(version),
  nuget: (id, version = "") => id.length <= 100 && NUGET_NAME.test(id) && NUGET_VERSION.test(version),
  oci(id, version) {
    const image = readImage(id);
    // Without a tag of its own the image is the one of the version, and never "latest".
    return image !== undefined && (image.tag ?? image.digest ?? version) !== undefined;
  },
  mcpb: (id) => readUrl(id) !== undefined,
};

/** Whether this names exactly one release of one package. */
export function fits(type: RegistryType, identifier: string, version: string | undefined): boolean {
  if (version !== undefined && !(type === "pypi" ? version.length <= LONGEST_VERSION : isVersion(version)))
    return false;
  return FITS[type](identifier, version);
}

export function isSha256(text: string): boolean {
  return /^[a-f0-9]{64}$/.test(text);
}

/** An address without credentials, blanks and letters that could be taken for others; undefined for everything else. */
export function readUrl(text: string): URL | undefined {
  if (text.length > LONGEST_URL || !/^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i.test(text) || !URL.canParse(text))
    return undefined;
  const url = new URL(text);
  return url.username === "" && url.password === "" ? url : undefined;
}

/** A variable that a process can carry, and that no object takes for its prototype. */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name) && name !== "__proto__";
}

/** Those that belong to the connection itself are not for an entry to set. */
const OWN_HEADERS =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|accept|mcp-.*|proxy-.*|sec-.*)$/i;

export function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(name) && !OWN_HEADERS.test(name);
}
