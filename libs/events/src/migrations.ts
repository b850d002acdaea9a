import { fileURLToPath } from "node:url";
import type { LibraryMigrations } from "@signalbox/storage";

/** The tables of outbox, inbox and parking, for `migrate` of every service that uses them. */
export const eventsMigrations: LibraryMigrations = {
  library: "events",
  directory: fileURLToPath(new URL("../migrations", import.meta.url)),
};
