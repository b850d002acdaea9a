import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { MigrationList } from "@prisma/schema-engine-wasm";
import { readPrismaFolder } from "./migration-file.ts";
import { withSchemaEngine } from "./schema-engine.ts";

const filters = { externalTables: [], externalEnums: [] };

/** The lock file that `prisma migrate` expects beside the migrations. */
const lockFile = 'provider = "postgresql"\n';

/**
 * Returns the SQL from the result of a service's migrations to its `schema.prisma`; "" when they are equal. Each
 * service has a test that it is "". `url` is any database of an engine; a shadow database is created there and dropped.
 */
export async function schemaDifference(prismaDirectory: string, url: string): Promise<string> {
  const path = resolve(prismaDirectory, "schema.prisma");
  const schema = { path, content: await readFile(path, "utf8") };
  const migrations = await migrationList(prismaDirectory);
  return withSchemaEngine(url, schema, async (engine) => {
    const { stdout } = await engine.diff({
      from: { tag: "migrations", ...migrations },
      to: { tag: "schemaDatamodel", files: [schema] },
      script: true,
      exitCode: null,
      filters,
    });
    const script = stdout ?? "";
    return isEmpty(script) ? "" : script;
  });
}

/** The migrations of a service in the form of Prisma's engine. */
export async function migrationList(prismaDirectory: string): Promise<MigrationList> {
  const baseDir = resolve(prismaDirectory, "migrations");
  const files = await readPrismaFolder(prismaDirectory);
  return {
    baseDir,
    lockfile: { path: "migration_lock.toml", content: lockFile },
    shadowDbInitScript: "",
    migrationDirectories: files.map(({ name, text }) => ({
      path: name,
      migrationFile: { path: "migration.sql", content: { tag: "ok", value: text } },
    })),
  };
}

const isEmpty = (script: string): boolean =>
  script.split("\n").every((line) => line.trim() === "" || line.startsWith("--"));
