/** The manifest.json of an unpacked bundle as an entry that runs it. Replaces what the format names and nothing else; starts nothing but the runtimes it names and files of the bundle. */
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isKeys, type Keys } from "../../config/field.ts";
import type { Variable } from "../candidate.ts";
import { Blanks, literal } from "./blanks.ts";
import { Misfit } from "./misfit.ts";
import { isVariableName } from "./pattern.ts";
import { prose } from "./server-json.ts";

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
const LONGEST = 4_096;
const MOST = 128;
const PLACE = /\$\{([^}]*)\}/g;

/** Throws Misfit. `server` is what the server is called, `folder` where the bundle lies. */
export function entryFrom(manifest: unknown, server: string, folder: string): Unpacked {
  const keys = keysIn(manifest);
  const { platforms } = isKeys(keys["compatibility"]) ? keys["compatibility"] : {};
  if (Array.isArray(platforms) && !platforms.includes(process.platform))
    throw new Misfit(`it is not for ${process.platform}`);
  const config = configIn(keysIn(keys["server"])["mcp_config"]);
  const blanks = new Blanks(server);
  const places = new Places(blanks, folder, isKeys(keys["user_config"]) ? keys["user_config"] : {});
  const command = textIn(config["command"]);
  const program = RUNTIMES.includes(command) ? undefined : inside(places.text(command) ?? "", folder);
  const entryPoint = keysIn(keys["server"])["entry_point"];
  const args = listIn(config["args"]).flatMap((arg) =>
    // We do not start it in its own folder, where this would be enough.
    arg === entryPoint ? [inside(textIn(arg), folder)] : places.words(textIn(arg)),
  );
  const env = Object.entries(isKeys(config["env"]) ? config["env"] : {}).flatMap(([name, value]) => {
    if (!isVariableName(name)) throw new Misfit("the name of an environment variable is invalid");
    const text = places.text(textIn(value));
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    entry: { command: program ?? command, args, ...(env.length > 0 && { env: Object.fromEntries(env) }) },
    variables: blanks.variables,
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

/** What `${…}` means in a manifest. */
class Places {
  readonly #blanks: Blanks;
  readonly #user: Keys;
  readonly #fixed: ReadonlyMap<string, string>;

  constructor(blanks: Blanks, folder: string, user: Keys) {
    const home = homedir();
    this.#blanks = blanks;
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

  /** A choice of several is as many arguments; one that is not made is none. */
  words(arg: string): readonly string[] {
    const key = /^\$\{user_config\.([^}]*)\}$/.exec(arg)?.[1];
    const choice = key === undefined ? undefined : this.#option(key)["default"];
    if (Array.isArray(choice)) return choice.map((one) => this.#fill(textIn(one)));
    const text = this.text(arg);
    return text === undefined ? [] : [text];
  }

  /** Undefined if it hangs on a choice that need not be made. */
  text(template: string): string | undefined {
    let open = false;
    const text = template.split(/(\$\{[^}]*\})/).map((part) => {
      const name = /^\$\{(.*)\}$/.exec(part)?.[1];
      if (name === undefined) return literal(part);
      if (!name.startsWith("user_config.")) return this.#place(name);
      const value = this.#chosen(name.slice("user_config.".length));
      open ||= value === undefined;
      return value ?? "";
    });
    return open ? undefined : text.join("");
  }

  #chosen(key: string): string | undefined {
    const option = this.#option(key);
    const value = option["default"];
    if (Array.isArray(value)) return value.map((one) => this.#fill(textIn(one))).join(",");
    if (typeof value === "string") return this.#fill(textIn(value));
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    if (option["required"] !== true) return undefined;
    const description = prose(option["description"], 300) ?? prose(option["title"], 100);
    return this.#blanks.write(
      { isRequired: true, isSecret: option["sensitive"] === true, ...(description && { description }) },
      key,
    );
  }

  #option(key: string): Keys {
    const option = Object.hasOwn(this.#user, key) ? this.#user[key] : undefined;
    if (!isKeys(option)) throw new Misfit("its manifest uses a setting that it does not declare");
    return option;
  }

  #fill(text: string): string {
    return literal(text.replaceAll(PLACE, (_, name: string) => this.#place(name)));
  }

  #place(name: string): string {
    const value = this.#fixed.get(name);
    if (value === undefined) throw new Misfit("its manifest uses an unknown variable");
    return literal(value);
  }
}

function inside(path: string, folder: string): string {
  const full = isAbsolute(path) ? path : resolve(folder, path);
  const way = relative(folder, full);
  if (way === "" || way.startsWith("..") || isAbsolute(way))
    throw new Misfit("it would run a program that is neither its own nor a known runtime");
  return literal(full);
}

function keysIn(value: unknown): Keys {
  if (!isKeys(value)) throw new Misfit("its manifest.json is invalid");
  return value;
}

function listIn(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > MOST) throw new Misfit("its manifest.json is invalid");
  return value;
}

function textIn(value: unknown): string {
  if (typeof value !== "string" || value.length > LONGEST || /[\p{Cc}\p{Cs}]/u.test(value))
    throw new Misfit("its manifest.json is invalid");
  return value;
}
