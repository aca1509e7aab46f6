/** One row of the table of server fields. */

export interface ServerField {
  /** What a gateway accepts. Config files may also have forms of other clients. */
  readonly schema: Readonly<Record<string, unknown>>;
  /**
   * The value without this field. A field that has it is read by its schema: a time, a whole number or one of
   * some words.
   */
  readonly preset?: string | number;
  /** A time: a number of milliseconds, or a text such as "30s". */
  readonly unit?: "ms";
  /**
   * Only local servers have it (those with a command), or only remote ones (those with a url, and APIs), or
   * only APIs (those with openapi).
   */
  readonly only?: "stdio" | "remote" | "openapi";
  /** Config files do not have it. */
  readonly gatewayOnly?: true;
  /** Other names of the field in config files. */
  readonly aliases?: readonly string[];
  /**
   * What a change does. Each includes the next.
   * - runs: another program runs, or another address is called. A project file needs the user's consent
   *   again.
   * - dials: existing connections do not fit any more.
   * - reconnects: a gateway connects again, to show whether the server still works.
   * - tunes: connections stay.
   */
  readonly effect: "runs" | "dials" | "reconnects" | "tunes";
  /** An invalid value makes an entry of a config file unusable; with "name", a misspelt name does so too. */
  readonly guards?: "value" | "name";
  /** The import of a config file without the field keeps the stored value. */
  readonly kept?: true;
  readonly label: string;
  /** One line for people, with names and values in backticks. */
  readonly about: string;
  /** Further sentences for docs/config.md, with links. */
  readonly more?: string;
  /** The default in docs/config.md, if there is neither `preset` nor a default in the schema. */
  readonly missing?: string;
  /** Labels of the words of an enum, or of the members of an object. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Where the form of the console shows it. Without it, the field can be edited as JSON only. */
  readonly form?: "first" | "more";
}
