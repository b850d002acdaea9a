import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** One migration file. */
export interface MigrationFile {
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the file in hex, as Prisma records it. */
  readonly checksum: string;
}

/** Reads the `.sql` files of a library, in the order of their names. */
export async function readLibraryFolder(directory: string): Promise<MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(names.map((name) => readMigration(name, join(directory, name))));
}

/** Reads the `migrations/<name>/migration.sql` files beside a Prisma schema, in the order of their names. */
export async function readPrismaFolder(prismaDirectory: string): Promise<MigrationFile[]> {
  const directory = join(prismaDirectory, "migrations");
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(names.sort().map((name) => readMigration(name, join(directory, name, "migration.sql"))));
}

async function readMigration(name: string, path: string): Promise<MigrationFile> {
  const text = await readFile(path, "utf8");
  return { name, text, checksum: createHash("sha256").update(text).digest("hex") };
}
