/** Thrown by a route for something that another replica has. The router has that one answer, if it can. */
import { atReplica } from "../kernel/replica-ids.ts";
import { Problem } from "./problem.ts";

export class AtReplica extends Problem {
  readonly replica: string;
  readonly what: string;

  constructor(what: string, replica: string) {
    super(404, atReplica(what, replica));
    this.replica = replica;
    this.what = what;
  }

  get gone(): Problem {
    return new Problem(404, `${this.what} was at replica ${this.replica} of the gateway, which is gone`);
  }

  get later(): Problem {
    return new Problem(503, `${this.message}: try again later`, { headers: { "retry-after": "2" } });
  }
}
