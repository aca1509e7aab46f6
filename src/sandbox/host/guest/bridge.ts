/** The only way out of the guest. */

/** Takes and returns only strings. Other values could run code of the guest on the stack of the host. */
export type Bridge = (op: string, a: string, b: string, c: string) => string;
