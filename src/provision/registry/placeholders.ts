/**
 * Collects the variables that the user must set, and writes texts with placeholders `${NAME}` for them.
 * Refuses texts of a registry that already contain such a placeholder.
 */
import type { Variable } from "../candidate.ts";
import { isVariableName } from "./pattern.ts";
import type { RegistryInput } from "./server-json.ts";
import { UnsupportedEntry } from "./unsupported-entry.ts";

const IN_BRACES = /\{([A-Za-z_][\w.-]*)\}/g;

export class Placeholders {
  readonly #prefix: string;
  readonly #variables = new Map<string, Variable>();

  /**
   * Names other than those of environment variables get the server's name as a prefix: `{path}` must not
   * become `PATH`.
   */
  constructor(server: string) {
    this.#prefix = upperCaseName(server);
  }

  get variables(): readonly Variable[] {
    return [...this.#variables.values()];
  }

  /** The text of an input. `own`: `name` is the name of an environment variable and gets no prefix. */
  textOf(input: RegistryInput, name: string, own = false): string {
    if (input.value !== undefined) return this.fill(input.value, input);
    if (input.default !== undefined) return literal(input.default);
    return this.#placeholder(own ? name : this.#prefixed(name), input, !isOptional(input));
  }

  /**
   * Replaces `{name}` by the value or placeholder of that variable of the input. Other braces stay unchanged.
   */
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
        text.push(this.#placeholder(this.#prefixed(name), blank, required));
        run = "";
      }
    }
    add(template.slice(end));
    return text.join("");
  }

  #placeholder(
    name: string,
    { description = "", isSecret = false, choices }: RegistryInput,
    required: boolean,
  ): string {
    if (!isVariableName(name)) throw new UnsupportedEntry(`${name} cannot be the name of a variable`);
    // A server must not read settings of MetaMCP, such as the token of this gateway.
    if (/^METAMCP_/i.test(name)) throw new UnsupportedEntry("it uses a setting of MetaMCP itself");
    const before = this.#variables.get(name);
    const text = [description, choices ? `One of: ${choices.join(", ")}` : ""].filter(Boolean).join(" ");
    this.#variables.set(name, {
      name,
      ...(text && { description: before?.description ?? text }),
      required: required || before?.required === true,
      secret: isSecret || before?.secret === true,
    });
    return `\${${name}}`;
  }

  #prefixed(name: string): string {
    const plain = upperCaseName(name);
    return plain.startsWith(`${this.#prefix}_`) ? plain : `${this.#prefix}_${plain}`;
  }
}

/** Refuses a text with `${`, because the config replaces `${…}` everywhere and cannot escape it. */
export function literal(text: string): string {
  if (text.includes("${"))
    throw new UnsupportedEntry("one of its values contains ${, which the config would replace");
  return text;
}

/** Whether the input needs a value that is not required. */
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

function upperCaseName(name: string): string {
  const plain = name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  return /^[A-Z]/.test(plain) ? plain : `X_${plain}`;
}
