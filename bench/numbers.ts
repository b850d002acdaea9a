/** Writes a number with at most two decimals. */
export const numeral = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 2 });
