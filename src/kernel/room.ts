/** How many sessions and requests may be under way at a time: at one endpoint, and at all of them together. Counts; whoever listens refuses. */

export interface RoomLimits {
  readonly sessions?: number;
  readonly inFlight?: number;
}

export class Room {
  readonly #limits: () => RoomLimits;
  readonly #around: Room | undefined;
  readonly #counts = { sessions: 0, inFlight: 0 };

  /** `around`: what is counted here is counted there too. */
  constructor(limits: () => RoomLimits, around?: Room) {
    this.#limits = limits;
    this.#around = around;
  }

  /** One more would be too many. */
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

  /** Counts a request until it settles. What it throws or rejects with passes. */
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
