/** An example for sentences about times. */
export const timeExample = "2026-01-31T12:00:00Z";

const form =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)[Tt ](?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))?(?:[Zz]|(?<sign>[+-])(?<zoneHours>\d\d):(?<zoneMinutes>\d\d))$/;

/**
 * Parses a time of RFC 3339 in any zone, to the millisecond: further digits are cut off. A space may stand for `T` (§5.6).
 * A leap second, which is the last of a month in UTC (§5.7), is the moment after it. Null for any other text, days and
 * times that the calendar does not have included.
 */
export function parseRfc3339(text: string): Date | null {
  const parts = form.exec(text)?.groups;
  if (!parts) return null;
  const { fraction = "", sign, zoneHours = 0, zoneMinutes = 0 } = parts;
  const [year, month, day] = [Number(parts.year), Number(parts.month), Number(parts.day)];
  const [hour, minute, second] = [Number(parts.hour), Number(parts.minute), Number(parts.second)];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 60 || Number(zoneHours) > 23 || Number(zoneMinutes) > 59) return null;
  // `Date.UTC` takes the years below 100 for those of the 20th century.
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, day);
  const offset = (sign === "-" ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes));
  time.setUTCHours(hour, minute - offset, second, Number(fraction.slice(0, 3).padEnd(3, "0")));
  if (second === 60 && !isStartOfMonth(time)) return null;
  return time.getUTCFullYear() >= 0 && time.getUTCFullYear() <= 9999 ? time : null;
}

const daysIn = (year: number, month: number): number => {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
};

const isStartOfMonth = (time: Date): boolean =>
  time.getUTCDate() === 1 && time.getUTCHours() === 0 && time.getUTCMinutes() === 0 && time.getUTCSeconds() === 0;
