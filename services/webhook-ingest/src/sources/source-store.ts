import { type Clock, timeOfPublicId } from "@signalbox/core";
import {
  advisoryLock,
  containing,
  isLive,
  type ListRange,
  newestFirst,
  type Pool,
  type Queryable,
  type RotatingValue,
  rangeValues,
  type SealedColumn,
  type Sealer,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import { addressOf, formerEnds, isSourceId, type Source } from "./source.ts";

/** Columns that a source shows; its secrets are read separately. */
const sources = table("sources", columns.sources, [
  "sealedSecret",
  "sealedFormerSecrets",
  "sealedVerifyToken",
  "sealedSenderKey",
]);
const sealedSources = table("sources", columns.sources);
const saveSource = sources.update(
  "name",
  "eventTypes",
  "status",
  "forward",
  "settings",
  "isSecretShort",
  "revision",
  "updatedAt",
);
const saveAddresses = sources.update(
  "address",
  "addressIds",
  "formerAddresses",
  "formerAddressesEndAt",
  "revision",
  "updatedAt",
);
const saveSenderKey = sources.update("senderKey", "revision", "updatedAt");
const saveSealedSenderKey = sealedSources.update("sealedSenderKey");
const saveSecrets = sealedSources.update(
  "sealedSecret",
  "sealedFormerSecrets",
  "sealedVerifyToken",
  "secretIds",
  "formerSecretsEndAt",
);

const select = `select ${sources.columns} from sources`;
const findSource = sql("source.find", `${select} where id = $1 and account_id = $2`);
const findSources = sql("source.find-many", `${select} where id = any($1) and account_id = $2`);
const listSources = sql(
  "source.list",
  `${select} where account_id = $1 and ($5::text is null or status = $5)
     and ($6::text is null or name ilike $6 or id ilike $6) and ${newestFirst(2)}`,
);
// `no key update`, so that a change of a source does not block its deliveries, which lock its key.
const lockSource = sql("source.lock", `${select} where id = $1 and account_id = $2 for no key update`);
const lockSources = sql("source.lock-all", `${select} where account_id = $1 order by id for update`);
const countSources = sql("source.count", "select count(*)::int as count from sources where account_id = $1");
// A source may have received more than one statement can delete in time; a worker removes that.
const removeSource = sql(
  "source.remove",
  `with gone as (delete from sources where id = $1 returning id)
   insert into removed_sources (id, removed_at) select id, clock_timestamp() from gone`,
);
const noteDeletedAccount = sql(
  "source.note-deleted-account",
  "insert into removed_sources (id, removed_at) values ($1, clock_timestamp()) on conflict do nothing",
);
const findWithSecrets = sql("source.find-with-secrets", `select ${sealedSources.columns} from sources where id = $1`);

const findSenderKey = sql("source.find-sender-key", "select sealed_sender_key as sealed from sources where id = $1");
const lockById = sql("source.lock-by-id", `${select} where id = $1 for no key update`);
const findIdAt = sql("source.find-id-at", "select id from sources where address = $1 or former_addresses @> array[$1]");

const place = (id: unknown) => ({ service: "webhook-ingest", table: "sources", row: String(id) });
const placeOfFormer = (id: unknown) => place(`${id} former`);
const placeOfToken = (id: unknown) => place(`${id} verify token`);
const placeOfSenderKey = (id: unknown) => place(`${id} sender key`);

/** Secrets of a partner: the current one, and the former ones with their ends. */
export interface SourceSecrets {
  readonly current: string;
  readonly former: readonly FormerSecret[];
  /** Token that Meta sends with its verification request. */
  readonly verifyToken: string | null;
}

export interface SourceFilter {
  readonly status?: Source["status"] | undefined;
  /** A part of the name or of the id. */
  readonly text?: string | undefined;
}

interface FormerSecret extends RotatingValue {
  readonly secret: string;
}

/** A row: of each kind of value the ids, newest first, and of the former ones what the kind has. */
interface SourceRow extends Omit<Source, "secrets" | "addresses"> {
  /** Null until a version that has ids changes the secrets. */
  readonly secretIds: readonly string[] | null;
  readonly formerSecretsEndAt: readonly Date[];
  /** Null while the address is the id of the source. */
  readonly address: string | null;
  readonly addressIds: readonly string[] | null;
  readonly formerAddresses: readonly string[];
  readonly formerAddressesEndAt: readonly Date[];
}

interface SealedSource extends SourceRow {
  readonly sealedSecret: string;
  /** JSON of the former secrets, sealed as one text; null without any. */
  readonly sealedFormerSecrets: string | null;
  readonly sealedVerifyToken: string | null;
  readonly sealedSenderKey: string | null;
}

/** Sealed columns with the secrets of sources. */
export const sealedSecrets: readonly SealedColumn[] = [
  sealedColumn("sealed_secret", place),
  sealedColumn("sealed_former_secrets", placeOfFormer),
  sealedColumn("sealed_verify_token", placeOfToken),
  sealedColumn("sealed_sender_key", placeOfSenderKey),
];

function sealedColumn(column: string, placeOf: typeof place): SealedColumn {
  const condition = `${column} is not null`;
  return { table: "sources", column, key: ["id"], place: ([id]) => placeOf(id), condition };
}

/**
 * Returns the values of a row, newest first, ended ones too. An id holds the time of its value. Values that a version
 * without ids wrote have ids of their places, the oldest first, so that the next value changes none, and the time of the
 * source.
 */
function valuesOf(
  { id, createdAt }: SourceRow,
  prefix: "srk" | "sra",
  ids: readonly string[] | null,
  formerEndsAt: readonly Date[],
): RotatingValue[] {
  const ends = [null, ...formerEndsAt];
  const known = ids?.length === ends.length ? ids : [];
  return ends.map((endsAt, at) => {
    const valueId = known[at] ?? `${prefix}_${id}_${ends.length - at}`;
    return { id: valueId, createdAt: new Date(timeOfPublicId(valueId) ?? createdAt), endsAt };
  });
}

const secretsOf = (row: SourceRow): RotatingValue[] => valuesOf(row, "srk", row.secretIds, row.formerSecretsEndAt);

/** Converts a row to a source with the values that are live. */
function sourceFromRow(row: SourceRow, now: Date): Source {
  const { secretIds, formerSecretsEndAt, address, addressIds, formerAddresses, formerAddressesEndAt, ...source } = row;
  const addresses = [address ?? row.id, ...formerAddresses];
  const values = valuesOf(row, "sra", addressIds, formerAddressesEndAt);
  const live = <Value extends RotatingValue>(all: readonly Value[]) => all.filter((value) => isLive(value, now));
  return {
    ...source,
    secrets: live(secretsOf(row)),
    addresses: live(values.map((value, at) => ({ ...value, address: addresses[at] ?? row.id }))),
  };
}

const idsOf = (values: readonly RotatingValue[]): string[] => values.map(({ id }) => id);

/** Returns the columns of the addresses of a source. */
function addressColumns(source: Source) {
  const address = addressOf(source);
  const former = source.addresses.slice(1);
  return {
    address: isSourceId(address) ? null : address,
    addressIds: idsOf(source.addresses),
    formerAddresses: former.map((one) => one.address),
    formerAddressesEndAt: formerEnds(former),
  };
}

/** Returns the columns of the secrets of a source. The former ones are those given: ended ones explain a refusal. */
function secretColumns({ id, secrets }: Source, { current, former, verifyToken }: SourceSecrets, sealer: Sealer) {
  const texts = JSON.stringify(former.map(({ secret }) => ({ secret })));
  return {
    sealedSecret: sealer.seal(current, place(id)),
    sealedFormerSecrets: former.length === 0 ? null : sealer.seal(texts, placeOfFormer(id)),
    sealedVerifyToken: verifyToken === null ? null : sealer.seal(verifyToken, placeOfToken(id)),
    secretIds: idsOf([...secrets.slice(0, 1), ...former]),
    formerSecretsEndAt: formerEnds(former),
  };
}

/** Opens the secrets of a row. */
function openSecrets(row: SealedSource, sealer: Sealer): SourceSecrets {
  const { id, sealedSecret, sealedFormerSecrets, sealedVerifyToken } = row;
  const former = sealedFormerSecrets ? sealer.open(sealedFormerSecrets, placeOfFormer(id)).toString("utf8") : "[]";
  const [, ...formerValues] = secretsOf(row);
  return {
    current: sealer.open(sealedSecret, place(id)).toString("utf8"),
    former: (JSON.parse(former) as Pick<FormerSecret, "secret">[]).flatMap(({ secret }, at) => {
      const value = formerValues[at];
      return value ? { ...value, secret } : [];
    }),
    verifyToken: sealedVerifyToken && sealer.open(sealedVerifyToken, placeOfToken(id)).toString("utf8"),
  };
}

/**
 * Stores sources in PostgreSQL. Every look-up for a caller names the account, so another account's source reads as
 * missing.
 */
export function createSourceStore(pool: Pool, sealer: Sealer, clock: Clock) {
  const toSource = (row: SourceRow): Source => sourceFromRow(row, clock.now());
  const rowsOf = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Source[]> =>
    (await from.query<SourceRow>(...query)).rows.map(toSource);
  const rowOf = async (...query: Parameters<typeof rowsOf>): Promise<Source | null> =>
    (await rowsOf(...query))[0] ?? null;

  return {
    find: (accountId: string, id: string) => rowOf(pool, findSource, [id, accountId]),
    findMany: (accountId: string, ids: readonly string[]) => rowsOf(pool, findSources, [ids, accountId]),
    list: (accountId: string, range: ListRange, { status, text }: SourceFilter = {}) =>
      rowsOf(pool, listSources, [
        accountId,
        ...rangeValues(range),
        ...[status ?? null, text === undefined ? null : containing(text)],
      ]),
    lock: (tx: Tx, accountId: string, id: string) => rowOf(tx, lockSource, [id, accountId]),
    lockAllOf: (tx: Tx, accountId: string) => rowsOf(tx, lockSources, [accountId]),
    /** Counts the account's sources, and blocks a concurrent insert until the transaction ends. */
    async lockCount(tx: Tx, accountId: string): Promise<number> {
      await advisoryLock(tx, `sources:${accountId}`);
      return (await tx.query<{ count: number }>(countSources, [accountId])).rows[0]?.count ?? 0;
    },
    insert: (tx: Tx, source: Source, secrets: SourceSecrets) =>
      sealedSources.insert(tx, {
        ...source,
        ...addressColumns(source),
        ...secretColumns(source, secrets, sealer),
        sealedSenderKey: null,
      }),
    /** Saves the changeable fields of a source, and its secrets if given. */
    async save(tx: Tx, source: Source, secrets?: SourceSecrets): Promise<void> {
      await saveSource(tx, source);
      if (secrets) await saveSecrets(tx, { id: source.id, ...secretColumns(source, secrets, sealer) });
    },
    /** Locks a source for work of our own, which no caller asked for. */
    lockById: (tx: Tx, id: string) => rowOf(tx, lockById, [id]),
    saveAddresses: (tx: Tx, source: Source) => saveAddresses(tx, { ...source, ...addressColumns(source) }),
    /** Returns the id of the source with this present or former address. */
    findIdAt: async (address: string): Promise<string | null> =>
      (await pool.query<{ id: string }>(findIdAt, [address])).rows[0]?.id ?? null,
    remove: async (tx: Tx, id: string): Promise<void> => void (await tx.query(removeSource, [id])),
    /** Has the statistics of a deleted account removed, which belong to no source. */
    noteDeletedAccount: async (tx: Tx, accountId: string): Promise<void> =>
      void (await tx.query(noteDeletedAccount, [accountId])),
    /** Finds a source for ingest, by its id alone: the sender has no account. */
    async findWithSecrets(
      id: string,
      from: Queryable = pool,
    ): Promise<{ source: Source; secrets: SourceSecrets } | null> {
      const [row] = (await from.query<SealedSource>(findWithSecrets, [id])).rows;
      if (row === undefined) return null;
      const { sealedSecret, sealedFormerSecrets, sealedVerifyToken, sealedSenderKey: _, ...shown } = row;
      return { source: toSource(shown), secrets: openSecrets(row, sealer) };
    },
  };
}

export type SourceStore = ReturnType<typeof createSourceStore>;

/** Stores the read keys of senders, sealed, beside their sources. */
export function createSenderKeyStore(pool: Pool, sealer: Sealer) {
  return {
    /** Saves the read key of a source; without its text, which then stays, or null for no key. */
    async save(tx: Tx, source: Source, text?: string | null): Promise<void> {
      await saveSenderKey(tx, source);
      if (text === undefined) return;
      const sealedSenderKey = text === null ? null : sealer.seal(text, placeOfSenderKey(source.id));
      await saveSealedSenderKey(tx, { id: source.id, sealedSenderKey });
    },
    /** Finds the text of the read key of a source. */
    async find(id: string): Promise<string | null> {
      const sealed = (await pool.query<{ sealed: string | null }>(findSenderKey, [id])).rows[0]?.sealed ?? null;
      return sealed && sealer.open(sealed, placeOfSenderKey(id)).toString("utf8");
    },
  };
}

export type SenderKeyStore = ReturnType<typeof createSenderKeyStore>;
