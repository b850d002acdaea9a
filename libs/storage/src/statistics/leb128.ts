/** A place in bytes, which reading moves. */
export interface Cursor {
  place: number;
}

/**
 * Appends a whole number from 0 to 2^53 - 1 in unsigned LEB128: seven bits a byte, the lowest first; all bytes but the
 * last have their highest bit set.
 */
export function appendNumber(bytes: number[], number: number): void {
  let rest = number;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Reads a number that `appendNumber` wrote, and moves the cursor behind it. */
export function readNumber(bytes: Uint8Array, cursor: Cursor): number {
  let byte = bytes[cursor.place++] as number;
  if (byte < 128) return byte;
  let [number, factor] = [byte & 127, 128];
  do {
    byte = bytes[cursor.place++] as number;
    number += (byte & 127) * factor;
    factor *= 128;
  } while (byte > 127);
  return number;
}
