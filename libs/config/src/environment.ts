import process from "node:process";

/** A copy of the process environment. The only reader of it: everything else is handed values. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return { ...process.env };
}
