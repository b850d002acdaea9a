import process from "node:process";

/** Returns a copy of the process environment. Only this file accesses it: everything else receives values. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return { ...process.env };
}

/** Sets a variable for a package that reads its settings only from the environment. */
export function setVariable(name: string, value: string): void {
  process.env[name] = value;
}
