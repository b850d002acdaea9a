import type { Patch } from "@signalbox/core";
import {
  advisoryLock,
  containing,
  type ListRange,
  newestFirst,
  type Queryable,
  rangeValues,
  type Statement,
  sql,
  type Tx,
} from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import type { Source } from "./source.ts";
import { presetColumns } from "./source-preset.ts";
import {
  addressColumns,
  placeOfSenderKey,
  type SourceRow,
  type SourceSecrets,
  sealedSources,
  secretColumns,
  sourceFromRow,
  sources,
} from "./source-row.ts";

const revision = ["revision", "updatedAt"] as const;
const terms = ["name", "eventTypes", "status", "forward", "settings"] as const;
const ofPreset = ["presetVersion", "presetSettings"] as const;
const save = sources.update(...terms, ...ofPreset, "isSecretShort", ...revision);
const saveAddresses = sources.update("address", "addressIds", "formerAddresses", "formerAddressesEndAt", ...revision);
const saveKey = sources.update("senderKey", ...revision);
const saveSealedKey = sealedSources.update("sealedSenderKey");
const saveSecrets = sealedSources.update(
  "sealedSecret",
  "sealedFormerSecrets",
  "sealedVerifyToken",
  "secretIds",
  "formerSecretsEndAt",
);

const select = `select ${sources.columns} from sources`;
const findOne = sql("source.find", `${select} where id = $1 and account_id = $2`);
const findMany = sql("source.find-many", `${select} where id = any($1) and account_id = $2`);
const listAll = sql(
  "source.list",
  `${select} where account_id = $1 and ($5::text is null or status = $5)
     and ($6::text is null or name ilike $6 or id ilike $6) and ${newestFirst(2)}`,
);
// `no key update`, so that a change of a source does not block its webhooks, which lock its key.
const lockOne = sql("source.lock", `${select} where id = $1 and account_id = $2 for no key update`);
const lockAll = sql("source.lock-all", `${select} where account_id = $1 order by id for update`);
const countAll = sql("source.count", "select count(*)::int as count from sources where account_id = $1");
// A source may have received more than one statement can delete in time; a worker removes that.
const remove = sql(
  "source.remove",
  `with gone as (delete from sources where id = $1 returning id)
   insert into removed_sources (id, removed_at) select id, clock_timestamp() from gone`,
);
const noteAccount = sql(
  "source.note-deleted-account",
  "insert into removed_sources (id, removed_at) values ($1, clock_timestamp()) on conflict do nothing",
);
const findKey = sql("source.find-sender-key", "select sealed_sender_key as sealed from sources where id = $1");
const lockById = sql("source.lock-by-id", `${select} where id = $1 for no key update`);

/** `text` is a part of the name or of the id. */
type SourceFilter = Patch<{ status: Source["status"]; text: string }>;

/** Finds a source of the account: another account's source reads as missing. */
export const findSource = (service: IngestService, accountId: string, id: string) =>
  readSource(service, service.pool, findOne, [id, accountId]);

export const findSources = (service: IngestService, accountId: string, ids: readonly string[]) =>
  readSources(service, service.pool, findMany, [ids, accountId]);

export const listSources = (
  service: IngestService,
  accountId: string,
  range: ListRange,
  { status, text }: SourceFilter = {},
) =>
  readSources(service, service.pool, listAll, [
    accountId,
    ...rangeValues(range),
    ...[status ?? null, text === undefined ? null : containing(text)],
  ]);

export const lockSource = (service: IngestService, tx: Tx, accountId: string, id: string) =>
  readSource(service, tx, lockOne, [id, accountId]);

/** Locks a source for work of our own, which no caller asked for. */
export const lockSourceById = (service: IngestService, tx: Tx, id: string) => readSource(service, tx, lockById, [id]);

export const lockSourcesOf = (service: IngestService, tx: Tx, accountId: string) =>
  readSources(service, tx, lockAll, [accountId]);

/** Counts the account's sources, and blocks a concurrent insert until the transaction ends. */
export async function lockSourceCount(tx: Tx, accountId: string): Promise<number> {
  await advisoryLock(tx, `sources:${accountId}`);
  return (await tx.query<{ count: number }>(countAll, [accountId])).rows[0]?.count ?? 0;
}

export const insertSource = ({ sealer }: IngestService, tx: Tx, source: Source, secrets: SourceSecrets) =>
  sealedSources.insert(tx, {
    ...source,
    ...presetColumns(source),
    ...addressColumns(source),
    ...secretColumns(source, secrets, sealer),
    sealedSenderKey: null,
  });

export async function saveSource({ sealer }: IngestService, tx: Tx, source: Source, secrets?: SourceSecrets) {
  await save(tx, { ...source, ...presetColumns(source) });
  if (secrets) await saveSecrets(tx, { id: source.id, ...secretColumns(source, secrets, sealer) });
}

export const saveSourceAddresses = (tx: Tx, source: Source) =>
  saveAddresses(tx, { ...source, ...addressColumns(source) });

export const removeSource = (tx: Tx, id: string) => tx.query(remove, [id]);

/** Has the statistics of a deleted account removed, which belong to no source. */
export const noteDeletedAccount = (tx: Tx, accountId: string) => tx.query(noteAccount, [accountId]);

/** Saves the read key of a source; without its text, which then stays, or null for no key. */
export async function saveSenderKey({ sealer }: IngestService, tx: Tx, source: Source, text?: string | null) {
  await saveKey(tx, source);
  if (text === undefined) return;
  const sealedSenderKey = text === null ? null : sealer.seal(text, placeOfSenderKey(source.id));
  await saveSealedKey(tx, { id: source.id, sealedSenderKey });
}

export async function findSenderKey({ pool, sealer }: IngestService, id: string): Promise<string | null> {
  const sealed = (await pool.query<{ sealed: string | null }>(findKey, [id])).rows[0]?.sealed ?? null;
  return sealed && sealer.open(sealed, placeOfSenderKey(id)).toString("utf8");
}

async function readSources({ clock }: IngestService, db: Queryable, statement: Statement, values: readonly unknown[]) {
  return (await db.query<SourceRow>(statement, values)).rows.map((row) => sourceFromRow(row, clock.now()));
}

const readSource = async (...read: Parameters<typeof readSources>): Promise<Source | null> =>
  (await readSources(...read))[0] ?? null;
