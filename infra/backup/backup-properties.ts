import { defineProperties, property } from "@signalbox/runtime";

/** The properties of the command `backup`, besides those of the engines. */
export const backupProperties = defineProperties({
  "backup.recipients": property.list(
    { default: [], pattern: "age1.+" },
    "Public keys of age that backups are encrypted for. Without one their files are as readable as the databases.",
  ),
  "backup.identities": property.list(
    { default: [], pattern: "AGE-SECRET-KEY-.+", secrecy: "secret" },
    "Secret keys of age that decrypt backups, for `restore` and for the check of what is encrypted.",
  ),
  "backup.scratch-url": property.string(
    { default: null, pattern: "^postgres(ql)?://.+", secrecy: "secret" },
    "A PostgreSQL on which databases may be made, under a name that may: each backup is restored into it and dropped again. Without it the checksums alone are verified.",
  ),
  "backup.interval": property.integer(
    { default: 3_600_000, unit: "ms", min: 60_000, max: 604_800_000 },
    "Time from the start of one backup of `schedule` to the next.",
  ),
  "backup.keep-last": property.integer(
    { default: 24, unit: "items", min: 1, max: 1_000 },
    "Number of the newest backups that are kept.",
  ),
  "backup.keep-days": property.integer(
    { default: 14, unit: "items", min: 0, max: 1_000 },
    "Number of days, in UTC, of which the newest backup is kept, besides the last ones.",
  ),
});
