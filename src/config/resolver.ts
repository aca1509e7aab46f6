/**
 * Resolves the variables in the texts of one entry, and records what is missing with the key that uses it.
 * References to secrets stay in the texts and are collected.
 */
import { resolve } from "node:path";
import { type Env, expandTilde } from "../home/home.ts";
import { Secret } from "../kernel/secret.ts";
import type { EntryContext } from "./entry-context.ts";
import { type Findings, keyOf, type Path } from "./field.ts";
import {
  type ReferringText,
  type SecretReference,
  secretParts,
  secretProblem,
  secretReferences,
} from "./secret-reference.ts";
import { userValuesIn } from "./user-values.ts";
import { foreignReference, references, STORED_SECRET, substitute } from "./variables.ts";

/** Throws an Error if the text cannot be used; its message follows the name of the key. */
type Finish = (text: string) => string;

export class Resolver {
  readonly findings: Findings;
  /** The values of `${secret:…}` that were used. */
  readonly secrets: Secret[] = [];
  readonly referring: ReferringText[] = [];
  readonly #context: Pick<EntryContext, "env" | "folder" | "secretRules">;
  readonly #env: Env;
  readonly #missing = new Map<string, Path>();

  constructor(context: Pick<EntryContext, "env" | "folder" | "secretRules">, findings: Findings) {
    this.#context = context;
    this.#env = context.env;
    this.findings = findings;
  }

  get complete(): boolean {
    return this.#missing.size === 0;
  }

  resolve(value: string, path: Path, finish: Finish = (text) => text): string {
    // Variables are replaced in the pieces between: their values are never read as references.
    const parts = secretParts(value).map((part) =>
      typeof part === "string" ? this.#substitute(part, path) : this.#reference(part, path),
    );
    const text = parts.map((part) => (typeof part === "string" ? part : part.written)).join("");
    const foreign = foreignReference(value);
    if (foreign)
      this.findings.warn(
        `${keyOf(path)} contains ${foreign}, which is not replaced: write variables as \${NAME}`,
      );
    const shown = this.#finish(finish, text, path);
    if (parts.some((part) => typeof part !== "string")) {
      if (userValuesIn(value).length > 0)
        this.findings.fault(path, `${keyOf(path)} names a secret and a value of the user: use one of them`);
      this.referring.push({ path, shown, parts, finish });
    }
    return shown;
  }

  /** For texts that decide what a server may touch: a person must be able to read these. */
  resolvePlain(value: string, path: Path): string {
    if (secretReferences(value).length > 0)
      this.findings.fault(
        path,
        `${keyOf(path)} cannot be a reference to a secret: write it out, because a person must be able to read it`,
      );
    return this.#substitute(value, path);
  }

  resolveAll(
    values: Readonly<Record<string, string>>,
    key: string,
    finish?: Finish,
  ): Readonly<Record<string, string>> {
    const entries = Object.entries(values).map(([name, value]) => [
      name,
      this.resolve(value, [key, name], finish),
    ]);
    return Object.fromEntries(entries);
  }

  #substitute(text: string, path: Path): string {
    const missing = new Set<string>();
    for (const { name } of references(text))
      if (name.startsWith(STORED_SECRET) && this.#env[name]) this.secrets.push(new Secret(this.#env[name]));
    const resolved = substitute(text, this.#env, missing);
    for (const name of missing) if (!this.#missing.has(name)) this.#missing.set(name, path);
    return resolved;
  }

  #reference(reference: SecretReference, path: Path): SecretReference {
    const { env, folder, secretRules } = this.#context;
    const problem = secretProblem(reference, secretRules);
    if (problem !== undefined) this.findings.fault(path, `${keyOf(path)}: ${problem}`);
    if (reference.kind !== "file") return reference;
    const within = secretRules?.file;
    const name = resolve(folder, expandTilde(reference.name, env));
    return { ...reference, name, ...(within && { within }) };
  }

  #finish(finish: Finish, text: string, path: Path): string {
    try {
      return finish(text);
    } catch (error) {
      this.findings.fault(path, `${keyOf(path)} ${(error as Error).message}`);
      return text;
    }
  }

  /** Reports all missing variables in one message. */
  report(): void {
    const isStored = ([name]: readonly [string, Path]): boolean => name.startsWith(STORED_SECRET);
    const variables = [...this.#missing].filter((one) => !isStored(one));
    for (const [name, path] of [...this.#missing].filter(isStored))
      this.findings.fault(
        path,
        `${keyOf(path)} uses \${${name}}, but the gateway has no such secret: an administrator stores it in the settings, { "secrets": { "${name.slice(STORED_SECRET.length)}": "…" } }`,
      );
    const uses = variables.map(([name, path]) => `${name} is not set (used in ${keyOf(path)})`);
    const [first, path] = variables[0] ?? [];
    if (first === undefined || path === undefined) return;
    const [subject, them] = uses.length === 1 ? ["the variable", "it"] : ["variables are missing:", "them"];
    this.findings.fault(
      path,
      `${subject} ${uses.join(", ")}: set ${them} in the environment of MetaMCP (a client has "env" in its entry for MetaMCP) and start MetaMCP again, or write a default: \${${first}:-value}`,
    );
  }
}
