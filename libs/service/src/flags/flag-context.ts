import type { Attributes } from "./attribute-condition.ts";

/** The attributes of the account that a flag is evaluated for. */
export interface FlagContext {
  /** The targeting key: the id of the account. */
  readonly accountId: string;
  readonly roles: readonly string[];
  /** Null when unknown: no rule about it matches. */
  readonly locale: string | null;
  readonly createdAtMs: number | null;
  /** Attributes that the calling program sends, which nobody has verified. */
  readonly attributes: Attributes;
}

/** The reason of an evaluation's result. */
export type FlagReason =
  | "STATIC"
  | "DEFAULT"
  | "TARGETING_MATCH"
  | "SPLIT"
  | "DISABLED"
  | "PREREQUISITE_FAILED"
  | "ERROR";

/** The result of an evaluation. `value` is null only for an unknown flag, or as a part of an object. */
export interface FlagEvaluation {
  readonly key: string;
  readonly value: unknown;
  /** The value for an answer: a float has a decimal point there, or typed SDKs take it for an integer. */
  readonly json: unknown;
  /** Null for an unknown flag. */
  readonly variant: string | null;
  readonly reason: FlagReason;
}
