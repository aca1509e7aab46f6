/** One case of abusive code: its name, the resource it attacks, and the code. */

export interface Abuse {
  readonly name: string;
  readonly target:
    | "another run's time"
    | "the machine's memory"
    | "the gateway's objects"
    | "the gateway's time";
  readonly code: string;
}
