import type { Attack } from "../runner/attack.ts";
import type { IssuingScene } from "../scene/issuing-scene.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";

/** The systems that are attacked. Each is started when the first group asks for it. */
interface Scenes {
  /** Trusts an issuer of ours, and limits nobody. */
  trusting(): Promise<TrustingScene>;
  /** Issues its own tokens, and limits everybody. */
  issuing(): Promise<IssuingScene>;
}

/** A table of attacks of one kind. */
export interface Group {
  readonly name: string;
  /** How many of its rows are tried at a time. */
  readonly atOnce: number;
  rows(scenes: Scenes): Promise<readonly Attack[]>;
}
