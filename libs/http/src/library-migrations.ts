import { fileURLToPath } from "node:url";

/** The table of idempotency records, in the schema `signalbox`, for `migrate({ libraryMigrations })`. */
export const httpMigrations = {
  library: "http",
  directory: fileURLToPath(new URL("../migrations", import.meta.url)),
} as const;
