/** What is known of the account that a flag is evaluated for. */
export interface FlagContext {
  /** The targeting key: the id of the account. */
  readonly accountId: string;
  readonly roles: readonly string[];
  /** Null where it is not known: no rule about it holds. */
  readonly locale: string | null;
  readonly createdAtMs: number | null;
}

/** Why an evaluation gave what it gave. */
export type FlagReason =
  | "STATIC"
  | "DEFAULT"
  | "TARGETING_MATCH"
  | "SPLIT"
  | "DISABLED"
  | "PREREQUISITE_FAILED"
  | "ERROR";

/** The answer of an evaluation. `value` is null only where there is no such flag, or as a part of an object. */
export interface FlagEvaluation {
  readonly key: string;
  readonly value: unknown;
  /** Null where there is no such flag. */
  readonly variant: string | null;
  readonly reason: FlagReason;
}
