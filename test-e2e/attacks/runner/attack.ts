/** Null for a repelled attempt, or a successful control; otherwise a description of what happened. */
export type Finding = string | null;

/** An attempt, and the judge of its result. */
export interface Trial<Evidence> {
  readonly what: string;
  readonly attempt: () => Promise<Evidence>;
  readonly judge: (evidence: Evidence) => Finding;
  /** Results of a weak system. A judge that misses one of these would miss an attack, too. */
  readonly planted: readonly Evidence[];
}

/** The legitimate form of an attack. It must succeed, or the attacks that name it were repelled by accident. */
export interface Control {
  readonly what: string;
  readonly run: () => Promise<Finding>;
  readonly isBlind: () => boolean;
}

/** One row of a table. */
export interface Attack extends Control {
  /** The required outcome. */
  readonly must: string;
  /** A command that repeats the attack by hand. */
  readonly repeat: string;
  readonly control: Control;
}

/** Creates a control whose judge finds failures. */
export function control<Evidence>({ what, attempt, judge, planted }: Trial<Evidence>): Control {
  return {
    what,
    run: async () => judge(await attempt()),
    isBlind: () => planted.length === 0 || planted.some((evidence) => judge(evidence) === null),
  };
}

/** Creates a row whose judge finds successes. */
export function attack<Evidence>(
  row: Trial<Evidence> & Pick<Attack, "must" | "repeat"> & { readonly control: Control },
): Attack {
  return { ...control(row), must: row.must, repeat: row.repeat, control: row.control };
}
