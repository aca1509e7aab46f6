/** What the user must give to run a server, and texts with its place left open as `${NAME}`. Refuses every text of a registry that would read as such a place itself. */
import type { Variable } from "../candidate.ts";
import { Misfit } from "./misfit.ts";
import { isVariableName } from "./pattern.ts";
import type { RegistryInput } from "./server-json.ts";

const IN_BRACES = /\{([A-Za-z_][\w.-]*)\}/g;

export class Blanks {
  readonly #prefix: string;
  readonly #variables = new Map<string, Variable>();

  /** Names that are no names of environment variables get the server's in front: a `{path}` must not become our `PATH`. */
  constructor(server: string) {
    this.#prefix = upper(server);
  }

  get variables(): readonly Variable[] {
    return [...this.#variables.values()];
  }

  /** The text of an input; `name` is what it is called, `own` that this is the name of an environment variable. */
  write(input: RegistryInput, name: string, own = false): string {
    if (input.value !== undefined) return this.fill(input.value, input);
    if (input.default !== undefined) return literal(input.default);
    return this.#leave(own ? name : this.#prefixed(name), input, !isOptional(input));
  }

  /** A text with `{name}` for each of the variables of its input; any other brace stays as it is. */
  fill(template: string, { variables = {}, ...input }: RegistryInput): string {
    const required = !isOptional({ ...input, value: template, variables });
    const text: string[] = [];
    let run = "";
    const add = (fixed: string): void => {
      run += fixed;
      text.push(fixed);
      literal(run);
    };
    let end = 0;
    for (const { 0: whole, 1: name = "", index } of template.matchAll(IN_BRACES)) {
      const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
      const fixed = variable ? (variable.value ?? variable.default) : whole;
      add(template.slice(end, index));
      end = index + whole.length;
      if (fixed !== undefined) add(fixed);
      else {
        const secret = Boolean(variable?.isSecret || input.isSecret);
        const description = variable?.description ?? input.description;
        const blank = { ...variable, isSecret: secret, ...(description && { description }) };
        text.push(this.#leave(this.#prefixed(name), blank, required));
        run = "";
      }
    }
    add(template.slice(end));
    return text.join("");
  }

  #leave(
    name: string,
    { description = "", isSecret = false, choices }: RegistryInput,
    required: boolean,
  ): string {
    if (!isVariableName(name)) throw new Misfit(`${name} cannot be the name of a variable`);
    // Our own settings, the token of this gateway among them, are no server's business.
    if (/^METAMCP_/i.test(name)) throw new Misfit("it uses a setting of MetaMCP itself");
    const before = this.#variables.get(name);
    const told = [description, choices ? `One of: ${choices.join(", ")}` : ""].filter(Boolean).join(" ");
    this.#variables.set(name, {
      name,
      ...(told && { description: before?.description ?? told }),
      required: required || before?.required === true,
      secret: isSecret || before?.secret === true,
    });
    return `\${${name}}`;
  }

  #prefixed(name: string): string {
    const plain = upper(name);
    return plain.startsWith(`${this.#prefix}_`) ? plain : `${this.#prefix}_${plain}`;
  }
}

/** The config reads `${…}` in every text; it has no way to write one that is not meant. */
export function literal(text: string): string {
  if (text.includes("${")) throw new Misfit("one of its values contains ${, which the config would replace");
  return text;
}

/** It has a place left open, and nobody says that it must be filled. */
export function isOptional(input: RegistryInput): boolean {
  if (input.isRequired) return false;
  if (input.value === undefined) return input.default === undefined;
  const { variables = {} } = input;
  const open = [...input.value.matchAll(IN_BRACES)].flatMap(([, name = ""]) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return variable && variable.value === undefined && variable.default === undefined ? [variable] : [];
  });
  return open.length > 0 && !open.some(({ isRequired }) => isRequired);
}

function upper(name: string): string {
  const plain = name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  return /^[A-Z]/.test(plain) ? plain : `X_${plain}`;
}
