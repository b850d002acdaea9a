import process from "node:process";

/** A copy of the process environment. This file alone touches it: everything else is handed values. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return { ...process.env };
}

/** Sets a variable for a package that reads its settings from nowhere else. */
export function setVariable(name: string, value: string): void {
  process.env[name] = value;
}
