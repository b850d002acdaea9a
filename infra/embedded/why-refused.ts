import { ConfigurationError } from "@signalbox/runtime";
import { DatabaseTooOldError, oldestVersion } from "@signalbox/storage";
import { FolderInUseError } from "../engines/postgres/start-postgres.ts";

/** System errors of a folder that this user may not use, or of a path that cannot be one. */
const folderCodes = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST"];

/** A full disk, as the system, the database server or one of its programs says it. */
const diskFull = /\b(ENOSPC|EDQUOT|53100)\b|no space left on device|disk quota exceeded/i;

const chooseFolder = "npm start -- --embedded.data-directory=<folder>";

/**
 * Says in one sentence why a start was refused and what helps, where a person can mend it. `null` for everything else: its
 * log line is needed.
 */
export function whyRefused(error: unknown): string | null {
  if (error instanceof ConfigurationError) {
    const address = error.problems.find(({ source }) => source.endsWith(" listener"));
    if (!address) return error.message; // it names the source of each value
    return `${address.message}: npm start -- --${address.property}=<value>`;
  }
  if (error instanceof DatabaseTooOldError) {
    return `its data was made by a version before ${oldestVersion}; move .signalbox aside, or choose another folder: ${chooseFolder}`;
  }
  if (error instanceof FolderInUseError) {
    return `it already runs in this folder, as process ${error.pid}; stop that one, or choose another folder: ${chooseFolder}`;
  }
  if (isDiskFull(error))
    return `the disk of its folder is full; free some space, or choose another folder: ${chooseFolder}`;
  const { code, syscall, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (!code || !syscall || !folderCodes.includes(code)) return null;
  return `its folder cannot be used (${message}); choose another one: ${chooseFolder}`;
}

/** A library may have wrapped what the system said. */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return diskFull.test(`${code ?? ""} ${error.message}`) || isDiskFull(error.cause);
}
