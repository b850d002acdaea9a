import { dayMs } from "@signalbox/storage";

/** A backup in a folder of backups. */
export interface KeptBackup {
  readonly name: string;
  readonly takenAtMs: number;
  readonly isVerified: boolean;
}

interface Retention {
  /** Number of the newest that stay. */
  readonly keepLast: number;
  /** Number of days, in UTC, of which the newest stays. */
  readonly keepDays: number;
}

/** Names the backups to remove. The newest that was found whole always stays. */
export function expiredBackups(
  backups: readonly KeptBackup[],
  { keepLast, keepDays }: Retention,
  nowMs: number,
): string[] {
  const newestFirst = backups.toSorted((one, other) => other.takenAtMs - one.takenAtMs);
  const dayOf = (ms: number): number => Math.floor(ms / dayMs);
  const newestOfDay = new Map(newestFirst.toReversed().map(({ name, takenAtMs }) => [dayOf(takenAtMs), name]));
  const oldestDay = dayOf(nowMs) - keepDays;
  const isKept = ({ name, takenAtMs }: KeptBackup, place: number): boolean =>
    place < keepLast || (dayOf(takenAtMs) > oldestDay && newestOfDay.get(dayOf(takenAtMs)) === name);
  const lastWhole = newestFirst.find(({ isVerified }) => isVerified)?.name;
  return newestFirst
    .filter((backup, place) => !isKept(backup, place) && backup.name !== lastWhole)
    .map(({ name }) => name);
}
