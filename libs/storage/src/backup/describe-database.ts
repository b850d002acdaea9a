import type pg from "pg";

export interface TableDescription {
  /** Includes the schema, and quotes as in SQL. */
  readonly name: string;
  readonly columns: readonly string[];
}

/** One partition of a table. */
interface PartitionDescription {
  readonly name: string;
  readonly parent: string;
  /** The bound in the syntax of `create table … partition of`. */
  readonly bound: string;
  readonly options: readonly string[];
}

interface SequenceDescription {
  readonly name: string;
  /** Null for a sequence that was never used. */
  readonly last: string | null;
}

export interface DatabaseDescription {
  /** Ordered so that each table follows those that it refers to. */
  readonly tables: readonly TableDescription[];
  readonly partitions: readonly PartitionDescription[];
  readonly sequences: readonly SequenceDescription[];
  /** The applied migrations with checksums: databases with the same migrations have the same tables. */
  readonly migrations: readonly string[];
}

/** Histories of migrations, which the migrations themselves write. */
const histories = ["public._prisma_migrations", "signalbox.library_migrations", "signalbox.migration_kinds"];

const named = "format('%I.%I', namespace.nspname, class.relname)";
const ours = "namespace.nspname in ('public', 'signalbox')";
const classes = "pg_class class join pg_namespace namespace on namespace.oid = class.relnamespace";

const listTables = `
  select ${named} as name,
    array(select quote_ident(attname) from pg_attribute where attrelid = class.oid and attnum > 0 and not attisdropped
      and attgenerated = '' order by attnum) as columns,
    array(select format('%I.%I', other_space.nspname, other.relname) from pg_constraint
      join pg_class other on other.oid = confrelid join pg_namespace other_space on other_space.oid = other.relnamespace
      where conrelid = class.oid and contype = 'f' and confrelid <> class.oid) as needs
  from ${classes}
  where ${ours} and class.relkind in ('r', 'p') and not class.relispartition and ${named} <> all($1) order by 1`;
const listPartitions = `
  select ${named} as name, format('%I.%I', parent_space.nspname, parent.relname) as parent,
    pg_get_expr(class.relpartbound, class.oid) as bound, coalesce(class.reloptions, '{}') as options
  from ${classes} join pg_inherits on inhrelid = class.oid join pg_class parent on parent.oid = inhparent
  join pg_namespace parent_space on parent_space.oid = parent.relnamespace
  where ${ours} and class.relispartition and class.relkind = 'r' order by 1`;
const listSequences = `
  select format('%I.%I', schemaname, sequencename) as name, last_value::text as last from pg_sequences
  where schemaname in ('public', 'signalbox') order by 1`;
const listMigrations: Readonly<Record<string, string>> = {
  "public._prisma_migrations": "select migration_name || ' ' || checksum as line from public._prisma_migrations",
  "signalbox.library_migrations":
    "select library || '/' || name || ' ' || checksum as line from signalbox.library_migrations",
};

/** Reads the description of the database: everything except its rows. */
export async function describeDatabase(client: pg.Client): Promise<DatabaseDescription> {
  const { rows: tables } = await client.query<TableDescription & { needs: string[] }>(listTables, [histories]);
  const { rows: partitions } = await client.query<PartitionDescription>(listPartitions);
  const { rows: sequences } = await client.query<SequenceDescription>(listSequences);
  const migrations: string[] = [];
  for (const [table, statement] of Object.entries(listMigrations)) {
    const { rows: found } = await client.query("select to_regclass($1) is not null as there", [table]);
    if (!found[0].there) continue;
    migrations.push(...(await client.query<{ line: string }>(statement)).rows.map(({ line }) => line));
  }
  return { tables: inOrder(tables), partitions, sequences, migrations: migrations.sort() };
}

/** Sorts the tables so that each follows those that it refers to. */
function inOrder(tables: readonly (TableDescription & { readonly needs: readonly string[] })[]): TableDescription[] {
  const placed = new Map<string, TableDescription>();
  let waiting = [...tables];
  while (waiting.length > 0) {
    const ready = waiting.filter(({ needs }) => needs.every((name) => placed.has(name)));
    if (ready.length === 0)
      throw new Error(`tables refer to each other: ${waiting.map(({ name }) => name).join(", ")}`);
    for (const { name, columns } of ready) placed.set(name, { name, columns });
    waiting = waiting.filter(({ name }) => !placed.has(name));
  }
  return [...placed.values()];
}
