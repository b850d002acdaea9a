import { ConfigurationError } from "@signalbox/config";
import { DatabaseTooOldError, oldestVersion } from "@signalbox/storage";

/** What the system says of a folder that this user may not use, or that cannot be one. */
const folderCodes = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST"];

/**
 * Says in one sentence why a start was refused and which option helps, where a person can mend it with one. `null` for
 * everything else: its log line is needed.
 */
export function whyRefused(error: unknown): string | null {
  if (error instanceof ConfigurationError) {
    const taken = error.problems.find(({ source }) => source.endsWith(" listener"));
    if (!taken) return error.message; // it names the source of each value
    const { property, value, expected } = taken;
    return `${property} is ${value}: expected ${expected}; choose another with: npm start -- --${property}=<value>`;
  }
  if (error instanceof DatabaseTooOldError) {
    return (
      `its data was made by a version before ${oldestVersion}; move .signalbox aside, or choose another folder with: ` +
      "npm start -- --embedded.data-directory=<folder>"
    );
  }
  const { code, syscall, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (!code || !syscall || !folderCodes.includes(code)) return null;
  return `its folder cannot be used (${message}); choose another with: npm start -- --embedded.data-directory=<folder>`;
}
