/**
 * Where in a JSON value the search is: below which names, and whether a text there holds the bytes of an
 * image, audio or file.
 */
import { isPlainlySecretName } from "../../../kernel/looks-secret.ts";
import type { Raw } from "../../../kernel/raw.ts";

/** `tokens` is mostly a count. */
const COUNTED_NAME = /tokens$/i;
/** The names in it are those of values that a schema describes. */
const SCHEMA_NAMES = "properties";
/** A block may name its type, or a file its address, after the bytes. Between them are only short members. */
const AFTER = 512;
const BETWEEN = String.raw`^\s*(?:,\s*"\w{1,32}"\s*:\s*"[^"\\]{0,128}"\s*){0,3},\s*`;
const TYPE_AFTER = new RegExp(String.raw`${BETWEEN}"type"\s*:\s*"(?:image|audio)"`);
const ADDRESS_AFTER = new RegExp(String.raw`${BETWEEN}"uri"\s*:`);

export class Place {
  readonly #secretNames: boolean;
  /** The name of the member; empty where none is known. */
  name = "";
  /** The text that comes is a name itself. */
  atName = false;
  #secret = false;
  #counted = false;
  #depth = 0;
  /** The depth of the outermost value below the name of a secret; 0 outside. */
  #secretFrom = 0;
  #countedFrom = false;
  /** The depths of objects whose names are those of a schema. */
  readonly #schemas: number[] = [];
  /** The depths of the object that said it is an image or audio, and of the one that has an address. */
  #mediaAt = -1;
  #addressAt = -1;

  constructor({ secretNames }: { readonly secretNames: boolean }) {
    this.#secretNames = secretNames;
  }

  /** A text here is a secret, whatever it looks like. */
  get hidesText(): boolean {
    return this.#secretFrom > 0 || this.#secret;
  }

  get hidesNumber(): boolean {
    return this.#secretFrom > 0 ? !this.#countedFrom && !this.#counted : this.#secret && !this.#counted;
  }

  enterMember(name: string): void {
    this.atName = true;
    this.name = name;
    if (name === "uri") this.#addressAt = this.#depth;
    if (!this.#secretNames) return;
    this.#secret = isPlainlySecretName(name);
    this.#counted = this.#secret && COUNTED_NAME.test(name);
  }

  /** A name or a text was read. */
  passText(text: string): void {
    if (this.atName) this.atName = false;
    else if (this.name === "type" && (text === "image" || text === "audio")) this.#mediaAt = this.#depth;
  }

  open(): void {
    this.#depth += 1;
    if (this.name === SCHEMA_NAMES) this.#schemas.push(this.#depth);
    else if (this.#secret && this.#secretFrom === 0 && this.#schemas.at(-1) !== this.#depth - 1) {
      this.#secretFrom = this.#depth;
      this.#countedFrom = this.#counted;
    }
    this.#forgetName();
  }

  close(): void {
    if (this.#secretFrom === this.#depth) this.#secretFrom = 0;
    if (this.#schemas.at(-1) === this.#depth) this.#schemas.pop();
    if (this.#mediaAt === this.#depth) this.#mediaAt = -1;
    if (this.#addressAt === this.#depth) this.#addressAt = -1;
    this.#depth -= 1;
    this.#forgetName();
  }

  get mayHoldBytes(): boolean {
    return (this.name === "data" || this.name === "blob") && !this.atName;
  }

  /** Whether the text before `end` is that of an image, audio or file. */
  holdsBytes(raw: Raw, end: number): boolean {
    const known = this.name === "data" ? this.#mediaAt : this.#addressAt;
    if (known === this.#depth) return true;
    const after = raw.toString("latin1", end, end + AFTER);
    return (this.name === "data" ? TYPE_AFTER : ADDRESS_AFTER).test(after);
  }

  #forgetName(): void {
    this.name = "";
    this.#secret = false;
    this.#counted = false;
  }
}
