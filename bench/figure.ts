/** One measured value and, where there is one, the bound that it should keep. */
export interface Figure {
  readonly figure: string;
  readonly value: number;
  /** Empty for a share or a multiple. */
  readonly unit: string;
  /** The measurement of the same run that the value is compared with, in words. */
  readonly baseline: string | null;
  readonly wanted: { readonly least: number } | { readonly most: number } | null;
}

/** The outcome of one run of a bench. */
export interface BenchResult {
  /** Everything that was measured, for the screen. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Figures for the history. */
  readonly figures: readonly Figure[];
}

/** A figure that should not exceed a bound. */
export function most(figure: string, bound: number, value: number, unit = "", baseline: string | null = null): Figure {
  return { figure, value, unit, baseline, wanted: { most: bound } };
}

/** A figure that should reach a bound. */
export function least(figure: string, bound: number, value: number, unit = "", baseline: string | null = null): Figure {
  return { figure, value, unit, baseline, wanted: { least: bound } };
}

/** Null for a figure without a bound. */
export function isMet({ value, wanted }: Figure): boolean | null {
  if (wanted === null) return null;
  return "least" in wanted ? value >= wanted.least : value <= wanted.most;
}
