/** Reads servers from pasted text: a client config or a part of one, an address, or a command. Pure. */

export type Entry = Readonly<Record<string, unknown>>;
export type Entries = Readonly<Record<string, Entry>>;

export type ReadPasted =
  | { readonly entries: Entries }
  | { readonly problem: "none" }
  /** What is wrong, and in which line if it is known. */
  | { readonly problem: "json"; readonly line?: number; readonly reason?: string };

/** The keys under which client configs list servers. */
const LISTS = ["mcpServers", "servers", "context_servers", "mcp_servers"];

/** Returns undefined for empty text. */
export function readPasted(text: string): ReadPasted | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (!/^["{[]/.test(trimmed)) return readLine(trimmed);
  const parsed = parseJson(trimmed);
  const inBraces = "error" in parsed ? parseJson(`{${trimmed.replace(/,\s*$/, "")}}`) : parsed;
  if ("error" in parsed && "error" in inBraces) {
    const start = text.slice(0, text.indexOf(trimmed));
    return { problem: "json", ...whereIn(start + trimmed, start.length, parsed.error) };
  }
  const entries = "value" in inBraces ? entriesIn(inBraces.value) : undefined;
  return entries && Object.keys(entries).length > 0 ? { entries } : { problem: "none" };
}

function entriesIn(value: unknown): Entries | undefined {
  if (!isRecord(value)) return undefined;
  for (const list of LISTS) if (isRecord(value[list])) return onlyEntries(value[list]);
  // Some clients nest the list in their settings.
  if (isRecord(value["mcp"])) return entriesIn(value["mcp"]) ?? onlyEntries(value["mcp"]);
  if (isEntry(value)) {
    const { name, ...entry } = value;
    return { [typeof name === "string" && name !== "" ? name : guessName(entry)]: entry };
  }
  return onlyEntries(value);
}

function onlyEntries(value: Readonly<Record<string, unknown>>): Entries {
  return Object.fromEntries(
    Object.entries(value).filter((pair): pair is [string, Entry] => isEntry(pair[1])),
  );
}

function isEntry(value: unknown): value is Entry {
  return isRecord(value) && ["command", "url", "openapi"].some((key) => typeof value[key] === "string");
}

/** Reads an address, or a command with arguments and leading variables. */
function readLine(line: string): ReadPasted {
  const input = line.replace(/^\$ /, "");
  if (/^https?:\/\/\S+$/.test(input))
    return toEntries(isDocument(input) ? { openapi: input } : { url: input });
  const words = wordsOf(input);
  const separator = words.indexOf("--");
  // `claude mcp add NAME -- command …`, and similar commands of other clients.
  if (words[1] === "mcp" && words[2] === "add" && separator > 0) {
    const name = words.slice(3, separator).find((word) => !word.startsWith("-"));
    return toEntries(commandOf(words.slice(separator + 1)), name);
  }
  if (!/^[\w@./~\\:-]+$/.test(words.find((word) => !isVariable(word)) ?? "")) return { problem: "none" };
  return toEntries(commandOf(words));
}

/** Whether the name of the file says that an address is that of an OpenAPI document. */
function isDocument(address: string): boolean {
  return /(?:openapi|swagger|api-docs)[^/?#]*$|\.(?:ya?ml|json)$/i.test(address.replace(/[?#].*$/, ""));
}

function commandOf(words: readonly string[]): Entry {
  const first = words.findIndex((word) => !isVariable(word));
  const variables = words.slice(0, Math.max(first, 0)).map((word) => {
    const at = word.indexOf("=");
    return [word.slice(0, at), word.slice(at + 1)] as const;
  });
  const [command, ...args] = words.slice(first);
  return {
    command,
    ...(args.length > 0 && { args }),
    ...(variables.length > 0 && { env: Object.fromEntries(variables) }),
  };
}

function isVariable(word: string): boolean {
  return /^[A-Za-z_]\w*=/.test(word);
}

function toEntries(entry: Entry, name = guessName(entry)): ReadPasted {
  return { entries: { [name]: entry } };
}

/** Splits a line into words as a shell does, without expanding anything. */
function wordsOf(line: string): readonly string[] {
  const words = line.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/gs) ?? [];
  return words.map((word) =>
    word.replace(
      /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/gs,
      (_, single?: string, double?: string, one?: string) =>
        single ?? double?.replace(/\\(.)/gs, "$1") ?? one ?? "",
    ),
  );
}

/** Derives a name: `@modelcontextprotocol/server-github` becomes "github". */
export function guessName(entry: Entry): string {
  const { url, openapi, command, args } = entry;
  const address = openapi ?? url;
  const source = typeof address === "string" ? hostIn(address) : packageIn(command, args);
  const name = source
    .replace(/^(?:mcp[-_]server[-_]|server[-_]|mcp[-_])/i, "")
    .replace(/(?:[-_]mcp[-_]server|[-_]server|[-_]mcp)$/i, "")
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  return name === "" ? "server" : name.slice(0, 64);
}

function hostIn(url: string): string {
  if (!URL.canParse(url)) return "";
  const parts = new URL(url).hostname.split(".").filter((part) => !/^(?:mcp|www|api)$/.test(part));
  return parts.at(0) ?? "";
}

/** Returns the package or file to run: the first argument that is neither a flag nor a subcommand. */
function packageIn(command: unknown, args: unknown): string {
  const words = Array.isArray(args) ? args.filter((word): word is string => typeof word === "string") : [];
  const found = words.find(
    (word) => !word.startsWith("-") && !/^(?:run|exec|dlx|tool|x|node|python3?)$/.test(word),
  );
  const parts = (found ?? (typeof command === "string" ? command : "")).split(/[/\\]/);
  const own = (parts.at(-1) ?? "").replace(/@[^@]*$/, "");
  // For `@playwright/mcp` the scope is the name.
  const last = /^(?:mcp|server|mcp-server)$/.test(own) ? (parts.at(-2)?.replace("@", "") ?? own) : own;
  return last.replace(/\.(?:m?[jt]s|py|exe)$/, "");
}

/**
 * Parses JSON, and ignores comments and trailing commas, which config files of clients contain. Spaces take
 * their place, so that the places in errors are those of the text.
 */
function parseJson(text: string): { readonly value: unknown } | { readonly error: string } {
  const plain = text.replace(
    /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=\s*(?:(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/)\s*)*[}\]])/g,
    (found, quoted: string | undefined) => quoted ?? found.replace(/[^\n]/g, " "),
  );
  try {
    return { value: JSON.parse(plain) as unknown };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** Engines name the place as a position, or not at all. */
function whereIn(text: string, start: number, error: string) {
  const position = /position (\d+)/.exec(error)?.[1];
  const reason = error.replace(/ in JSON at position.*| at line.*$/s, "");
  if (position === undefined) return { reason };
  return { line: text.slice(0, start + Number(position)).split("\n").length, reason };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
