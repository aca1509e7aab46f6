/** Where a parameter is sent, and how its value becomes text: the words of OpenAPI. */

export const PLACES = ["path", "query", "header", "cookie"] as const;
export type Place = (typeof PLACES)[number];
export type Style =
  | "simple"
  | "label"
  | "matrix"
  | "form"
  | "spaceDelimited"
  | "pipeDelimited"
  | "deepObject"
  | "tabDelimited";

/** How a value becomes text. */
export interface Serialization {
  readonly style: Style;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  /** The value is written in this media type; the style is not used. */
  readonly content?: string;
}
