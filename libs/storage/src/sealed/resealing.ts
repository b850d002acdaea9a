import { minutes } from "@signalbox/core";
import type { Logger, Metrics, Runner } from "@signalbox/runtime";
import type { Pool } from "../database/pool.ts";
import { type Statement, sql } from "../database/prepared-statement.ts";
import { SealError, type SealedPlace, type Sealer } from "./sealer.ts";

/** A column of sealed texts. Names and conditions are constants of the code and become part of statements. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  /** Narrows it to the rows whose text is sealed. */
  readonly condition?: string;
  /** Additional data of a sealed text: service, table, row. */
  readonly place: (key: readonly unknown[]) => SealedPlace;
}

interface Dependencies {
  readonly runner: Runner;
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** An instance with the former order of keys may still write during a deployment, so one pass is not enough. */
const everyMs = minutes(10);
const batch = 200;

/**
 * Reseals with the first key all texts that another key has sealed, so that the others can be given up. Several
 * instances may do it at once: a text is replaced only while it is the one that was read.
 */
export function startResealing(dependencies: Dependencies, columns: readonly SealedColumn[]): void {
  const { runner, log, metrics } = dependencies;
  let left = Number.NaN;
  metrics.gauge("signalbox_sealed_with_former_keys", (gauge) => gauge.set({}, left));
  const passes = columns.map((column) => createPass(dependencies, column));
  runner.housekeeping("resealing", everyMs, async () => {
    const results = [];
    for (const pass of passes) results.push(await pass());
    const resealed = results.reduce((sum, result) => sum + result.resealed, 0);
    left = results.reduce((sum, result) => sum + result.unopened, 0);
    if (resealed > 0) log.info({ resealed }, "encrypted values were re-encrypted with the first key");
    if (left > 0)
      log.warn({ texts: left }, "encrypted values cannot be decrypted: their key is missing in secrets.keys");
    return "done";
  });
}

interface Passed {
  readonly resealed: number;
  /** Number of texts whose key is missing. */
  readonly unopened: number;
}

/** The key as `k0`, `k1`, …, and the text. */
type Row = Readonly<Record<string, unknown>>;

/** Walks through the column once, in the order of the key. */
function createPass({ pool, sealer }: Dependencies, column: SealedColumn): () => Promise<Passed> {
  const { first, next, replace } = statementsOf(column);
  const current = `v1.${sealer.writingKeyId}.`;

  return async () => {
    let [resealed, unopened] = [0, 0];
    let after: readonly unknown[] | null = null;
    for (;;) {
      const rows: readonly Row[] = await read(after);
      for (const row of rows) {
        const key: readonly unknown[] = column.key.map((_, at) => row[`k${at}`]);
        const sealed = resealedOrNull(String(row.text), column.place(key));
        if (sealed === null) unopened++;
        else resealed += (await pool.query(replace, [sealed, row.text, ...key])).rowCount ?? 0;
        after = key;
      }
      if (rows.length < batch) return { resealed, unopened };
    }
  };

  async function read(after: readonly unknown[] | null): Promise<readonly Row[]> {
    return (await pool.query<Row>(after ? next : first, [current, ...(after ?? [])])).rows;
  }

  function resealedOrNull(text: string, place: SealedPlace): string | null {
    try {
      return sealer.reseal(text, place);
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }
}

function statementsOf({
  table,
  column,
  key,
  condition = "true",
}: SealedColumn): Record<"first" | "next" | "replace", Statement> {
  const names = key.join(", ");
  const select = (position: string) =>
    sql(
      "",
      `select ${key.map((name, at) => `${name} as k${at}`).join(", ")}, ${column} as text from ${table}
       where ${column} is not null and (${condition}) and not starts_with(${column}, $1) ${position}
       order by ${names} limit ${batch}`,
    );
  const parameters = (from: number) => key.map((_, at) => `$${at + from}`).join(", ");
  return {
    first: select(""),
    next: select(`and (${names}) > (${parameters(2)})`),
    replace: sql("", `update ${table} set ${column} = $1 where (${names}) = (${parameters(3)}) and ${column} = $2`),
  };
}
