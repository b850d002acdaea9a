import type { DayTable } from "@signalbox/storage";

/** Returns the smallest UUIDv7 of this moment (RFC 9562 §5.7: the first 48 bits are the milliseconds). */
export function firstIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Returns the time at which a UUIDv7 was created. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** The audit entries, partitioned into one table per day by their ids. */
export const auditDays: DayTable = {
  name: "audit_entries",
  column: "id",
  time: { firstAt: firstIdAt, timeOf: (id) => timeOfId(String(id)) },
};
