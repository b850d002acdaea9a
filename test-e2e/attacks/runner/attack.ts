/** Null when an attempt was repelled, or when a control went well; otherwise what happened instead. */
export type Finding = string | null;

/** Something is tried, and what came of it is judged. */
export interface Trial<Evidence> {
  readonly what: string;
  readonly attempt: () => Promise<Evidence>;
  readonly judge: (evidence: Evidence) => Finding;
  /** What a weak system would show. A judge that finds nothing in one of these would find nothing in an attack either. */
  readonly planted: readonly Evidence[];
}

/** The same as an attack, made legitimately. It has to succeed, or the attacks that name it were repelled by chance. */
export interface Control {
  readonly what: string;
  readonly run: () => Promise<Finding>;
  readonly isBlind: () => boolean;
}

/** One row of a table. */
export interface Attack extends Control {
  /** What must happen. */
  readonly must: string;
  /** How a person does the same. */
  readonly repeat: string;
  readonly control: Control;
}

/** Makes a control of a trial whose judge finds what went wrong. */
export function control<Evidence>({ what, attempt, judge, planted }: Trial<Evidence>): Control {
  return {
    what,
    run: async () => judge(await attempt()),
    isBlind: () => planted.length === 0 || planted.some((evidence) => judge(evidence) === null),
  };
}

/** Makes a row of a trial whose judge finds how it succeeded. */
export function attack<Evidence>(
  row: Trial<Evidence> & Pick<Attack, "must" | "repeat"> & { readonly control: Control },
): Attack {
  return { ...control(row), must: row.must, repeat: row.repeat, control: row.control };
}
