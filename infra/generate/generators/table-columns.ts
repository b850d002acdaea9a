import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Generator } from "../generator.ts";
import { packagesWith, root } from "../repository.ts";

/** The columns of every table by its name, from the models of `prisma/schema.prisma`: a column is declared once. */
export const tableColumns: Generator = {
  name: "table columns",
  kind: "built",
  generate: async () => {
    const services = await packagesWith("prisma/schema.prisma");
    const files = services.map(async ({ folder }) => {
      const schema = await readFile(join(root, folder, "prisma/schema.prisma"), "utf8");
      return [`${folder}/src/generated/columns.ts`, moduleOf(columnsOf(schema))] as const;
    });
    return new Map(await Promise.all(files));
  },
};

type Columns = Readonly<Record<string, string>>;

const moduleOf = (tables: Readonly<Record<string, Columns>>): string =>
  `/** The columns of each table by domain name, with their PostgreSQL types. */\nexport const columns = ${JSON.stringify(tables, null, 2)} as const;\n`;

/** Reads the models of a Prisma schema, whose format `prisma validate` has checked. Relations are no columns. */
export function columnsOf(schema: string): Readonly<Record<string, Columns>> {
  const models = [...schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)];
  const relations = new Set(models.map(([, model]) => model));
  const tables = models.map(([, model, body = ""]) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1];
    if (table === undefined) throw new Error(`the model ${model} has no @@map`);
    const fields = [...body.matchAll(/^ {2}(\w+) +(\w+)(\[\])?\??(.*)$/gm)].filter(
      ([, , type]) => !relations.has(type),
    );
    const columns = fields.map(
      ([, name = "", type, list = "", rest = ""]) => [name, typeOf(type, rest) + list] as const,
    );
    return [table, Object.fromEntries(columns)] as const;
  });
  return Object.fromEntries(tables);
}

const scalars: Columns = {
  String: "text",
  Int: "int4",
  BigInt: "int8",
  Float: "float8",
  Boolean: "bool",
  Json: "jsonb",
  Bytes: "bytea",
  DateTime: "timestamp",
};

function typeOf(type = "", attributes: string): string {
  const native = /@db\.(\w+)/.exec(attributes)?.[1]?.toLowerCase();
  const known = native ?? scalars[type];
  if (known === undefined) throw new Error(`no column type is known for ${type}`);
  return known;
}
