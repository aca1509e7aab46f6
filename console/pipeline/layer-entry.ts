/** A layer with its options, and the object that has it. */

export type LayerEntry = { readonly use: string } & Readonly<Record<string, unknown>>;

/** The object that has the layers. */
export interface Place {
  readonly kind: "settings" | "endpoint" | "namespace" | "server";
  readonly uuid?: string;
}
