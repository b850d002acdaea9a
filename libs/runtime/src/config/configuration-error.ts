import type { Problem } from "./configuration.ts";

/** The configuration is invalid. The message lists every problem, one a line, ready for an operator. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`The configuration is not valid:\n${problems.map(describe).join("\n")}`);
    this.problems = problems;
  }
}

function describe({ property, source, value, expected, message }: Problem): string {
  return `  ${message ?? `${property} (from ${source}) is ${value}: expected ${expected}`}`;
}
