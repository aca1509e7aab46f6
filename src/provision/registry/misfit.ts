/** Why an entry, or one way to run it, is not used. Never leaves this folder. */
export class Misfit extends Error {}
