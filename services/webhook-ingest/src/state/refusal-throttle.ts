/** Refusals of one turn of the event loop, about a millisecond. A larger share saves nothing. */
const perTurn = 4;

/**
 * The queue of refusals that are ready to leave, first come, first served. A sender posts again on a connection once it
 * has its answer, so a flood on any number of connections takes up a few refusals of each turn, and not all of them: a
 * webhook that is stored meanwhile waits for a few. Where nothing else waits, a refusal leaves at once.
 */
export class RefusalThrottle {
  readonly #turn: (next: () => void) => void;
  readonly #waiting: (() => void)[] = [];
  #left = perTurn;
  #isTurnAsked = false;

  constructor(turn: (next: () => void) => void = setImmediate) {
    this.#turn = turn;
  }

  /** Waits for the place of a refusal. What waits is an open connection without a body, so there is no bound. */
  async place(): Promise<void> {
    this.#askForTurn();
    if (this.#left > 0) this.#left--;
    else await new Promise<void>((leave) => void this.#waiting.push(leave));
  }

  #askForTurn(): void {
    if (this.#isTurnAsked) return;
    this.#isTurnAsked = true;
    this.#turn(() => {
      this.#isTurnAsked = false;
      const leaving = this.#waiting.splice(0, perTurn);
      this.#left = perTurn - leaving.length;
      for (const leave of leaving) leave();
      if (leaving.length > 0) this.#askForTurn();
    });
  }
}
