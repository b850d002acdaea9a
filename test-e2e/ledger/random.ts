/** Pseudo-random numbers that a seed reproduces on every machine. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  /** Returns an integer, both ends included. */
  between(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  /** Creates a source for one purpose, so that draws elsewhere do not change its numbers. */
  fork(purpose: string): Random;
}

/** Mulberry32 over a hash of the seed: not for secrets. */
export function createRandom(seed: string): Random {
  let state = hash(seed);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick: (items) => items[between(0, items.length - 1)] as (typeof items)[number],
    fork: (purpose) => createRandom(`${seed}/${purpose}`),
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value;
}
