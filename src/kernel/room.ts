/** Limits the number of sessions and of requests in flight, at one endpoint and at all together. It only counts; its user must refuse. */

export interface RoomLimits {
  readonly sessions?: number;
  readonly inFlight?: number;
}

export class Room {
  readonly #limits: () => RoomLimits;
  readonly #around: Room | undefined;
  readonly #counts = { sessions: 0, inFlight: 0 };

  /** `around`: an outer limit, where everything is counted too. */
  constructor(limits: () => RoomLimits, around?: Room) {
    this.#limits = limits;
    this.#around = around;
  }

  /** Whether one more would be over the limit. */
  full(what: keyof RoomLimits): boolean {
    const most = this.#limits()[what];
    return (most !== undefined && this.#counts[what] >= most) || (this.#around?.full(what) ?? false);
  }

  enter(what: keyof RoomLimits): void {
    this.#counts[what] += 1;
    this.#around?.enter(what);
  }

  leave(what: keyof RoomLimits): void {
    this.#counts[what] -= 1;
    this.#around?.leave(what);
  }

  /** Counts a request until it settles. Its errors are passed on. */
  serve<T>(request: () => Promise<T>): Promise<T> {
    const left = (): void => this.leave("inFlight");
    this.enter("inFlight");
    let answer: Promise<T>;
    try {
      answer = request();
    } catch (error) {
      left();
      throw error;
    }
    answer.then(left, left);
    return answer;
  }
}
