/** Runs functions one after the other. One that fails does not stop those behind it. */
export class Sequencer {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as `work` does. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
