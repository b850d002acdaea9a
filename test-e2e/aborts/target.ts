import type { Attempt } from "../audit/recipes/attempt.ts";

/** A request that would succeed, or wait. */
export interface Target {
  readonly name: string;
  make(): Promise<Attempt>;
}
