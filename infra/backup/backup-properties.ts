import { defineProperties } from "@signalbox/runtime";

/** The properties of the command `backup`, besides those of the engines. */
export const backupProperties = defineProperties({
  "backup.recipients": {
    type: "list",
    default: [],
    pattern: "age1.+",
    secrecy: "internal",
    reload: "restart",
    effect:
      "Public keys of age that backups are encrypted for. Without one their files are as readable as the databases.",
  },
  "backup.identities": {
    type: "list",
    default: [],
    pattern: "AGE-SECRET-KEY-.+",
    secrecy: "secret",
    reload: "restart",
    effect: "Secret keys of age that decrypt backups, for `restore` and for the check of what is encrypted.",
  },
  "backup.scratch-url": {
    type: "string",
    default: null,
    pattern: "^postgres(ql)?://.+",
    secrecy: "secret",
    reload: "restart",
    effect:
      "A PostgreSQL on which databases may be made, under a name that may: each backup is restored into it and dropped again. Without it the checksums alone are verified.",
  },
  "backup.interval": {
    type: "integer",
    default: 3_600_000,
    unit: "ms",
    min: 60_000,
    max: 604_800_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Time from the start of one backup of `schedule` to the next.",
  },
  "backup.keep-last": {
    type: "integer",
    default: 24,
    unit: "items",
    min: 1,
    max: 1_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Number of the newest backups that are kept.",
  },
  "backup.keep-days": {
    type: "integer",
    default: 14,
    unit: "items",
    min: 0,
    max: 1_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Number of days, in UTC, of which the newest backup is kept, besides the last ones.",
  },
});
