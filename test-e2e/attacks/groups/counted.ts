import type { Finding } from "../runner/attack.ts";
import { inLanes } from "../runner/run-attacks.ts";

/** How many of some requests were answered, and how many refused because there were too many. */
export interface Counted {
  readonly answered: number;
  readonly refused: number;
}

/** Requests at once. */
const lanes = 6;

/** Processes that share a count may let so many more through while they ask for their shares of it. */
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

/** Counts a burst, and another one when so many were answered that it may have gone over from one window into the next. */
export async function countBurst(allowed: number, burst: () => Promise<Counted>): Promise<Counted> {
  for (let nth = 1; ; nth++) {
    const counted = await burst();
    if (nth === burstsMax || within(allowed, shared)(counted) === null) return counted;
  }
}

/** Counts how many of the requests, sent several at a time, are answered and not refused for their number. */
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
