/** The reasons why expired overrides are still active, a sentence each. */
export class ExpiryProblems {
  #problems: readonly string[] = [];

  list(): readonly string[] {
    return this.#problems;
  }

  /** Replaces the problems; returns true when they are others than before. */
  replace(problems: readonly string[]): boolean {
    const isOther = problems.join() !== this.#problems.join();
    this.#problems = problems;
    return isOther;
  }
}
