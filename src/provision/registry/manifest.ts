/**
 * Turns the manifest.json of an unpacked bundle into an entry. Replaces only the variables of the format, and
 * allows only known runtimes and files of the bundle as the command.
 */
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isKeys, type Keys } from "../../config/field.ts";
import type { Variable } from "../candidate.ts";
import { isVariableName } from "./pattern.ts";
import { literal, Placeholders } from "./placeholders.ts";
import { prose } from "./server-json.ts";
import { UnsupportedEntry } from "./unsupported-entry.ts";

export interface Unpacked {
  readonly entry: {
    readonly command: string;
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  };
  readonly variables: readonly Variable[];
  /** A file of the bundle that must be executable. */
  readonly program: string | undefined;
}

const RUNTIMES = ["node", "python", "python3", "uv"];
const MAX_TEXT_LENGTH = 4_096;
const MAX_ITEMS = 128;
const VARIABLE = /\$\{([^}]*)\}/g;

/** Throws UnsupportedEntry. `server` is the name of the server, `folder` the folder of the bundle. */
export function entryFrom(manifest: unknown, server: string, folder: string): Unpacked {
  const keys = keysIn(manifest);
  const { platforms } = isKeys(keys["compatibility"]) ? keys["compatibility"] : {};
  if (Array.isArray(platforms) && !platforms.includes(process.platform))
    throw new UnsupportedEntry(`it is not for ${process.platform}`);
  const config = configIn(keysIn(keys["server"])["mcp_config"]);
  const placeholders = new Placeholders(server);
  const variables = new ManifestVariables(
    placeholders,
    folder,
    isKeys(keys["user_config"]) ? keys["user_config"] : {},
  );
  const command = textIn(config["command"]);
  const program = RUNTIMES.includes(command) ? undefined : inside(variables.text(command) ?? "", folder);
  const entryPoint = keysIn(keys["server"])["entry_point"];
  const args = listIn(config["args"]).flatMap((arg) =>
    // The process does not start in the bundle's folder, so the entry point needs its full path.
    arg === entryPoint ? [inside(textIn(arg), folder)] : variables.words(textIn(arg)),
  );
  const env = Object.entries(isKeys(config["env"]) ? config["env"] : {}).flatMap(([name, value]) => {
    if (!isVariableName(name)) throw new UnsupportedEntry("the name of an environment variable is invalid");
    const text = variables.text(textIn(value));
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    entry: { command: program ?? command, args, ...(env.length > 0 && { env: Object.fromEntries(env) }) },
    variables: placeholders.variables,
    program,
  };
}

function configIn(value: unknown): Keys {
  const config = keysIn(value);
  const overrides = isKeys(config["platform_overrides"]) ? config["platform_overrides"] : {};
  const own = Object.hasOwn(overrides, process.platform) ? overrides[process.platform] : undefined;
  if (!isKeys(own)) return config;
  return {
    ...config,
    ...own,
    env: { ...(isKeys(config["env"]) && config["env"]), ...(isKeys(own["env"]) && own["env"]) },
  };
}

/** Replaces `${…}` in texts of a manifest. */
class ManifestVariables {
  readonly #placeholders: Placeholders;
  readonly #user: Keys;
  readonly #fixed: ReadonlyMap<string, string>;

  constructor(placeholders: Placeholders, folder: string, user: Keys) {
    const home = homedir();
    this.#placeholders = placeholders;
    this.#user = user;
    this.#fixed = new Map([
      ["__dirname", folder],
      ["HOME", home],
      ["DESKTOP", join(home, "Desktop")],
      ["DOCUMENTS", join(home, "Documents")],
      ["DOWNLOADS", join(home, "Downloads")],
      ["pathSeparator", sep],
      ["/", sep],
    ]);
  }

  /**
   * A setting with several values gives several arguments; an optional setting without a value gives none.
   */
  words(arg: string): readonly string[] {
    const key = /^\$\{user_config\.([^}]*)\}$/.exec(arg)?.[1];
    const choice = key === undefined ? undefined : this.#option(key)["default"];
    if (Array.isArray(choice)) return choice.map((one) => this.#fill(textIn(one)));
    const text = this.text(arg);
    return text === undefined ? [] : [text];
  }

  /** Undefined if the text uses an optional setting without a value. */
  text(template: string): string | undefined {
    let open = false;
    const text = template.split(/(\$\{[^}]*\})/).map((part) => {
      const name = /^\$\{(.*)\}$/.exec(part)?.[1];
      if (name === undefined) return literal(part);
      if (!name.startsWith("user_config.")) return this.#fixedValue(name);
      const value = this.#userValue(name.slice("user_config.".length));
      open ||= value === undefined;
      return value ?? "";
    });
    return open ? undefined : text.join("");
  }

  #userValue(key: string): string | undefined {
    const option = this.#option(key);
    const value = option["default"];
    if (Array.isArray(value)) return value.map((one) => this.#fill(textIn(one))).join(",");
    if (typeof value === "string") return this.#fill(textIn(value));
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    if (option["required"] !== true) return undefined;
    const description = prose(option["description"], 300) ?? prose(option["title"], 100);
    return this.#placeholders.textOf(
      { isRequired: true, isSecret: option["sensitive"] === true, ...(description && { description }) },
      key,
    );
  }

  #option(key: string): Keys {
    const option = Object.hasOwn(this.#user, key) ? this.#user[key] : undefined;
    if (!isKeys(option)) throw new UnsupportedEntry("its manifest uses a setting that it does not declare");
    return option;
  }

  #fill(text: string): string {
    return literal(text.replaceAll(VARIABLE, (_, name: string) => this.#fixedValue(name)));
  }

  #fixedValue(name: string): string {
    const value = this.#fixed.get(name);
    if (value === undefined) throw new UnsupportedEntry("its manifest uses an unknown variable");
    return literal(value);
  }
}

function inside(path: string, folder: string): string {
  const full = isAbsolute(path) ? path : resolve(folder, path);
  const way = relative(folder, full);
  if (way === "" || way.startsWith("..") || isAbsolute(way))
    throw new UnsupportedEntry("it would run a program that is neither its own nor a known runtime");
  return literal(full);
}

function keysIn(value: unknown): Keys {
  if (!isKeys(value)) throw new UnsupportedEntry("its manifest.json is invalid");
  return value;
}

function listIn(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > MAX_ITEMS)
    throw new UnsupportedEntry("its manifest.json is invalid");
  return value;
}

function textIn(value: unknown): string {
  if (typeof value !== "string" || value.length > MAX_TEXT_LENGTH || /[\p{Cc}\p{Cs}]/u.test(value))
    throw new UnsupportedEntry("its manifest.json is invalid");
  return value;
}
