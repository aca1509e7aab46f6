/** One attempt to hurt: its name, what it is after, and the code. */

export interface Abuse {
  readonly name: string;
  readonly after:
    | "the clock of a neighbour"
    | "the memory of the machine"
    | "the gateway's objects"
    | "the gateway's clock";
  readonly code: string;
}
