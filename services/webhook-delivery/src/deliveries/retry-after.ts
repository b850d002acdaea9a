/** Reads `Retry-After` (RFC 9110 §10.2.3), the latest of several; null for a missing or unreadable header. */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | null {
  const given = [header ?? []].flat().map((one) => waitOf(one.trim(), nowMs));
  const waits = given.filter((ms) => ms !== null);
  return waits.length === 0 ? null : Math.max(...waits);
}

function waitOf(text: string, nowMs: number): number | null {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = httpDateMs(text, nowMs);
  return at === null ? null : Math.max(0, at - nowMs);
}

const monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const clockTime = "(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)";
/** Date formats (RFC 9110 §5.6.7): the preferred one, and the two obsolete ones that every recipient has to read. */
const httpDates = [
  `[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${clockTime} GMT`,
  `[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${clockTime} GMT`,
  `[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${clockTime} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

function httpDateMs(text: string, nowMs: number): number | null {
  for (const form of httpDates) {
    const parts = form.exec(text)?.groups;
    const month = monthNames.indexOf(parts?.month ?? "");
    if (parts === undefined || month < 0) continue;
    const { day, year = "", hour, minute, second } = parts;
    const fullYear = year.length === 2 ? fullYearOf(Number(year), nowMs) : Number(year);
    return Date.UTC(fullYear, month, Number(day), Number(hour), Number(minute), Number(second));
  }
  return null;
}

/** A year of two digits that seems more than 50 years ahead means the one in the past. */
function fullYearOf(year: number, nowMs: number): number {
  const nowYear = new Date(nowMs).getUTCFullYear();
  const near = nowYear - (nowYear % 100) + year;
  return near > nowYear + 50 ? near - 100 : near;
}
