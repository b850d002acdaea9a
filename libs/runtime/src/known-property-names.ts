import { existsSync, readFileSync } from "node:fs";

const file = new URL("./generated/property-names.json", import.meta.url);

/**
 * The names of all properties of all services, written by `npm run generate`. They may stand in the environment or a
 * file that services share. Before the first generation none are known, and a name of another service is refused.
 */
export function knownPropertyNames(): readonly string[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as string[]) : [];
}
