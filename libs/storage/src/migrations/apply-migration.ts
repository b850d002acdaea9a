import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@signalbox/runtime";
import type pg from "pg";
import type { MigrationFile } from "./migration-file.ts";
import { MigrationError, type MigrationHistory } from "./migration-history.ts";
import { declaredKind, recordKind } from "./migration-kind.ts";

interface Applying {
  readonly client: pg.Client;
  readonly history: MigrationHistory;
  readonly log: Logger;
  /** Time for which a held lock is retried. */
  readonly waitMs: number;
}

/** Every user of the table queues behind a statement that waits for its lock, so it gives way after this time. */
const lockTimeoutMs = 3_000;
/** Lets the queue move on before the next try. */
const pauseMs = 1_000;
const lockNotAvailable = "55P03";

/**
 * Applies one migration and records it, both in one transaction. When another session holds a lock that it needs, it
 * gives way and tries again. A file declared `concurrently` runs outside a transaction, and is recorded afterwards.
 */
export async function applyMigration(applying: Applying, file: MigrationFile): Promise<void> {
  const { history, log, waitMs } = applying;
  for (let spentMs = 0; ; spentMs += lockTimeoutMs + pauseMs) {
    try {
      return await (declaredKind(file.text).concurrently ? applyConcurrently : applyInTransaction)(applying, file);
    } catch (error) {
      const isLocked = (error as { code?: string }).code === lockNotAvailable;
      if (!isLocked || spentMs >= waitMs) {
        const said = `migration ${file.name} of ${history.owner} failed: ${explain(error, file.text)}`;
        const help = isLocked ? ". Another session holds the lock: end it, or raise database.start-wait" : "";
        throw new MigrationError(`${said}${help}`, { cause: error });
      }
      log.warn({ migration: file.name, owner: history.owner }, "a migration timed out on a lock and will be retried");
      await sleep(pauseMs);
    }
  }
}

async function applyInTransaction({ client, history }: Applying, file: MigrationFile): Promise<void> {
  await client.query("begin");
  try {
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
    await client.query(file.text);
    await history.record(client, file);
    await recordKind(client, history.owner, file);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {}); // the first error is the reason
    throw error;
  }
}

const concurrentIndex = /^create\s+(?:unique\s+)?index\s+concurrently\s+("[^"]+"|\w+)\s+on\s[^;]*;?$/i;

/**
 * Builds one index while others write. An interrupted build leaves its index invalid: it is dropped and rebuilt. An
 * index that was built but not recorded is only recorded.
 */
async function applyConcurrently({ client, history }: Applying, file: MigrationFile): Promise<void> {
  const statement = file.text.replaceAll(/^--.*$/gm, "").trim();
  const index = concurrentIndex.exec(statement)?.[1];
  if (!index) throw new Error("a concurrent migration holds one statement: create index concurrently <name> on …");
  const { rows } = await client.query("select indisvalid as valid from pg_index where indexrelid = to_regclass($1)", [
    index,
  ]);
  if (rows[0]?.valid === false) await client.query(`drop index concurrently ${index}`);
  // No lock timeout: the build blocks nobody, and must outwait the transactions that were open at its start.
  if (rows[0]?.valid !== true) await client.query(statement);
  await client.query("begin");
  await history.record(client, file);
  await recordKind(client, history.owner, file);
  await client.query("commit");
}

/** Returns PostgreSQL's message and the line that it points to. */
function explain(error: unknown, text: string): string {
  const { message, position } = error as { message: string; position?: string };
  if (!position) return message;
  return `${message} (line ${text.slice(0, Number(position)).split("\n").length})`;
}
