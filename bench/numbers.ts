/** Writes a number with at most two decimals. */
export const numeral = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 2 });

/** Rounds to the two digits that count. */
export const twoDigits = (value: number): number => Number(value.toPrecision(2));

/** Writes bytes in the largest unit that leaves a whole number, with two digits. */
export function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${numeral(twoDigits(bytes / 1_000 ** power))} ${units[power]}`;
}
