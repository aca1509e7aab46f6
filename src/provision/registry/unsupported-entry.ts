/** Thrown if an entry, or one way to run it, cannot be used. Always caught within this folder. */
export class UnsupportedEntry extends Error {}
