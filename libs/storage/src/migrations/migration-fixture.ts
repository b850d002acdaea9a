import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LibraryMigrations } from "./migrate.ts";

/** A service's `prisma` folder and a library's `migrations` folder that a test fills file by file. */
export interface MigrationFixture {
  readonly prismaDirectory: string;
  readonly library: LibraryMigrations;
  schema(models: string): Promise<void>;
  prisma(name: string, text: string): Promise<void>;
  librarySql(name: string, text: string): Promise<void>;
  forget(name: string): Promise<void>;
  forgetLibrarySql(name: string): Promise<void>;
  remove(): Promise<void>;
}

export async function createMigrationFixture(): Promise<MigrationFixture> {
  const root = await mkdtemp(join(tmpdir(), "signalbox-migrations-"));
  const prismaDirectory = join(root, "prisma");
  const directory = join(root, "library");
  await mkdir(join(prismaDirectory, "migrations"), { recursive: true });
  await mkdir(directory);
  return {
    prismaDirectory,
    library: { library: "example", directory },
    schema: (models) =>
      writeFile(join(prismaDirectory, "schema.prisma"), `datasource db {\n  provider = "postgresql"\n}\n${models}`),
    async prisma(name, text) {
      await mkdir(join(prismaDirectory, "migrations", name), { recursive: true });
      await writeFile(join(prismaDirectory, "migrations", name, "migration.sql"), text);
    },
    librarySql: (name, text) => writeFile(join(directory, name), text),
    forget: (name) => rm(join(prismaDirectory, "migrations", name), { recursive: true }),
    forgetLibrarySql: (name) => rm(join(directory, name)),
    remove: () => rm(root, { recursive: true }),
  };
}
