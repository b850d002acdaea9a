import type { Finding } from "../runner/attack.ts";
import { inLanes } from "../runner/run-attacks.ts";

/** Numbers of requests that were answered, and that were refused by a rate limit. */
export interface Counted {
  readonly answered: number;
  readonly refused: number;
}

/** Concurrent requests. */
const lanes = 6;

/** Processes that share a count may let this many more through while they fetch their shares of it. */
export const shared = lanes;

export const within =
  (allowed: number, more = 0) =>
  ({ answered, refused }: Counted): Finding =>
    answered <= allowed + more && refused > 0
      ? null
      : `${answered} were answered, ${refused} refused, of ${allowed} allowed`;

export const beyond = (allowed: number, more = 0): readonly Counted[] => [
  { answered: allowed + more + 1, refused: 1 },
  { answered: allowed, refused: 0 },
];

const burstsMax = 3;

/** Counts a burst, and repeats it when so many were answered that it may have crossed into the next window. */
export async function countBurst(allowed: number, burst: () => Promise<Counted>): Promise<Counted> {
  for (let nth = 1; ; nth++) {
    const counted = await burst();
    if (nth === burstsMax || within(allowed, shared)(counted) === null) return counted;
  }
}

/** Counts concurrent requests that are answered and not refused by a rate limit. */
export async function countAnswers(
  ask: (at: number) => Promise<number>,
  requests: number,
  refusal: number,
): Promise<Counted> {
  const statuses: number[] = [];
  await inLanes([...Array(requests).keys()], lanes, async (at) => statuses.push(await ask(at)));
  const refused = statuses.filter((status) => status === refusal).length;
  return { answered: requests - refused, refused };
}
