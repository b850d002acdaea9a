import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { schemaDifference } from "./migrations/authoring.ts";
import { likelyKind } from "./migrations/migration-kind.ts";

const usage = `npm run migration -- diff services/<service>/prisma --name <slug> [--database-url <url>]

Writes the migration that leads from the migrations there to schema.prisma. It needs a PostgreSQL engine, where it makes
and drops a shadow database: the one of \`npm run engines -- start\`, or the one given.`;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { name: { type: "string" }, "database-url": { type: "string" } },
});
const [command, prismaDirectory] = positionals;
if (command !== "diff" || !prismaDirectory || !/^[a-z0-9_]+$/.test(values.name ?? "")) {
  console.error(usage);
  process.exit(2);
}

await mkdir(join(prismaDirectory, "migrations"), { recursive: true });
const script = await schemaDifference(prismaDirectory, values["database-url"] ?? (await engineUrl()));
if (script === "") {
  console.log("The migrations already match the schema: nothing to write.");
} else {
  const path = await writeMigration(prismaDirectory, script);
  console.log(
    `Wrote ${path}. Read it before you commit it, with what its first line declares: expand first, contract later.`,
  );
}

async function writeMigration(directory: string, text: string): Promise<string> {
  const stamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  const folder = join(directory, "migrations", `${stamp}_${values.name}`);
  await mkdir(folder);
  await writeFile(join(folder, "migration.sql"), `-- signalbox: ${likelyKind(text)}\n${text.trim()}\n`);
  return join(folder, "migration.sql");
}

/** The engine of the tests, if it runs. */
async function engineUrl(): Promise<string> {
  try {
    const endpoints = JSON.parse(await readFile(join(".engines", "run", "endpoints.json"), "utf8"));
    return endpoints.postgres.url;
  } catch {
    console.error("No engine runs here: start one with `npm run engines -- start`, or give --database-url.");
    process.exit(2);
  }
}
