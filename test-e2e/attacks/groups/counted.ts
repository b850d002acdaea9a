import type { Finding } from "../runner/attack.ts";
import { inLanes } from "../runner/run-attacks.ts";

/** How many of some requests were answered, and how many refused because there were too many. */
export interface Counted {
  readonly answered: number;
  readonly refused: number;
}

export const within =
  (allowed: number) =>
  ({ answered, refused }: Counted): Finding =>
    answered <= allowed && refused > 0 ? null : `${answered} were answered, ${refused} refused, of ${allowed} allowed`;

export const beyond = (allowed: number): readonly Counted[] => [
  { answered: allowed + 1, refused: 1 },
  { answered: allowed, refused: 0 },
];

/** Counts how many of the requests, sent several at a time, are answered and not refused for their number. */
export async function countAnswers(
  ask: (at: number) => Promise<number>,
  requests: number,
  refusal: number,
): Promise<Counted> {
  const statuses: number[] = [];
  await inLanes([...Array(requests).keys()], 6, async (at) => statuses.push(await ask(at)));
  const refused = statuses.filter((status) => status === refusal).length;
  return { answered: requests - refused, refused };
}
