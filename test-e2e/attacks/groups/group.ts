import type { Attack } from "../runner/attack.ts";
import type { IssuingScene } from "../scene/issuing-scene.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";

/** The attacked systems. Each starts when the first group needs it. */
interface Scenes {
  /** Trusts a test issuer, without limits. */
  trusting(): Promise<TrustingScene>;
  /** Issues its own tokens, with limits. */
  issuing(): Promise<IssuingScene>;
}

/** A table of attacks of one kind. */
export interface Group {
  readonly name: string;
  /** Number of rows that are tried concurrently. */
  readonly atOnce: number;
  rows(scenes: Scenes): Promise<readonly Attack[]>;
}
