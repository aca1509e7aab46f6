/**
 * Limits the memory of request bodies that are still arriving, per owner and in total. Counts bytes, does not
 * hold them.
 */

export interface BodyLimits {
  readonly perOwner: number;
  readonly total: number;
}

export interface ArrivingBody {
  /** Counts bytes that have arrived. May cut other bodies, or this one. */
  add(bytes: number): void;
  /** The body is complete, or nobody holds it any more. */
  done(): void;
}

interface Body {
  bytes: number;
  readonly cut: () => void;
}

interface Owner {
  readonly name: string;
  bytes: number;
  /** Oldest first. */
  readonly bodies: Set<Body>;
}

export class UnfinishedBodies {
  readonly #limits: BodyLimits;
  readonly #owners = new Map<string, Owner>();
  #bytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `cut` is called at most once, if the body must make room. It is not called after `done`. */
  begin(name: string, cut: () => void): ArrivingBody {
    const body: Body = { bytes: 0, cut };
    const owner = this.#owners.get(name) ?? { name, bytes: 0, bodies: new Set() };
    this.#owners.set(name, owner);
    owner.bodies.add(body);
    return {
      add: (bytes) => {
        if (!owner.bodies.has(body)) return;
        body.bytes += bytes;
        owner.bytes += bytes;
        this.#bytes += bytes;
        this.#makeRoom(owner);
      },
      done: () => this.#remove(owner, body),
    };
  }

  /**
   * Cuts the oldest body of an owner over its share. In total, the owner that holds most loses its oldest
   * body, so that nobody crowds out others.
   */
  #makeRoom(owner: Owner): void {
    while (owner.bytes > this.#limits.perOwner) this.#cutOldest(owner);
    while (this.#bytes > this.#limits.total) {
      const most = [...this.#owners.values()].reduce((a, b) => (b.bytes > a.bytes ? b : a));
      this.#cutOldest(most);
    }
  }

  #cutOldest(owner: Owner): void {
    const [oldest] = owner.bodies;
    if (!oldest) return;
    this.#remove(owner, oldest);
    oldest.cut();
  }

  #remove(owner: Owner, body: Body): void {
    if (!owner.bodies.delete(body)) return;
    owner.bytes -= body.bytes;
    this.#bytes -= body.bytes;
    if (owner.bodies.size === 0) this.#owners.delete(owner.name);
  }
}

/** All bodies of this process, because they share its memory. */
export const unfinishedBodies = new UnfinishedBodies({ perOwner: 64 << 20, total: 256 << 20 });
