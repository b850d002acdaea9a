import { timeOfPublicId } from "@signalbox/core";
import {
  isLive,
  type Queryable,
  type RotatingValue,
  type SealedColumn,
  type Sealer,
  sql,
  table,
} from "@signalbox/storage";
import { type SignatureScheme, schemeOf } from "@signalbox/webhook-signatures";
import { columns } from "../generated/columns.ts";
import type { Source as Row } from "../generated/prisma/client.ts";
import { addressOf, formerEnds, isSourceId, type Source } from "./source.ts";
import { withCorrections } from "./source-preset.ts";
import type { SourceSettings } from "./source-settings.ts";

/** Columns that a source shows; its secrets are read separately. */
export const sources = table("sources", columns.sources, [
  "sealedSecret",
  "sealedFormerSecrets",
  "sealedVerifyToken",
  "sealedSenderKey",
]);
export const sealedSources = table("sources", columns.sources);

const findWithSecrets = sql("source.find-with-secrets", `select ${sealedSources.columns} from sources where id = $1`);
const findIdAt = sql("source.find-id-at", "select id from sources where address = $1 or former_addresses @> array[$1]");

const place = (id: unknown) => ({ service: "webhook-ingest", table: "sources", row: String(id) });
const placeOfFormer = (id: unknown) => place(`${id} former`);
const placeOfToken = (id: unknown) => place(`${id} verify token`);
export const placeOfSenderKey = (id: unknown) => place(`${id} sender key`);

/** Secrets of a partner: the current one, and the former ones with their ends. */
export interface SourceSecrets {
  readonly current: string;
  readonly former: readonly (RotatingValue & { readonly secret: string })[];
  /** Token that Meta sends with its verification request. */
  readonly verifyToken: string | null;
}

/** A row: of each kind of value the ids, newest first, and of the former ones what the kind has. */
export interface SourceRow extends Omit<Source, "secrets" | "addresses"> {
  readonly presetSettings: SourceSettings | null;
  /** Null until a version that has ids changes the secrets. */
  readonly secretIds: readonly string[] | null;
  readonly formerSecretsEndAt: readonly Date[];
  /** Null while the address is the id of the source. */
  readonly address: string | null;
  readonly addressIds: readonly string[] | null;
  readonly formerAddresses: readonly string[];
  readonly formerAddressesEndAt: readonly Date[];
}

/** A row with the sealed columns, which no source shows. */
type SealedSource = SourceRow & Omit<Row, keyof SourceRow>;

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
export function sourceFromRow(row: SourceRow, now: Date): Source {
  const { secretIds, formerSecretsEndAt, address, addressIds, formerAddresses, formerAddressesEndAt, ...rest } = row;
  const { presetSettings, ...source } = rest;
  const addresses = [address ?? row.id, ...formerAddresses];
  const values = valuesOf(row, "sra", addressIds, formerAddressesEndAt);
  const live = <Value extends RotatingValue>(all: readonly Value[]) => all.filter((value) => isLive(value, now));
  return {
    ...source,
    ...withCorrections({ ...source, presetSettings }),
    secrets: live(secretsOf(row)),
    addresses: live(values.map((value, at) => ({ ...value, address: addresses[at] ?? row.id }))),
  };
}

const idsOf = (values: readonly RotatingValue[]): string[] => values.map(({ id }) => id);

export function addressColumns(source: Source) {
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
export function secretColumns({ id, secrets }: Source, texts: SourceSecrets, sealer: Sealer) {
  const { current, former, verifyToken } = texts;
  const formerTexts = JSON.stringify(former.map(({ secret }) => ({ secret })));
  return {
    sealedSecret: sealer.seal(current, place(id)),
    sealedFormerSecrets: former.length === 0 ? null : sealer.seal(formerTexts, placeOfFormer(id)),
    sealedVerifyToken: verifyToken === null ? null : sealer.seal(verifyToken, placeOfToken(id)),
    secretIds: idsOf([...secrets.slice(0, 1), ...former]),
    formerSecretsEndAt: formerEnds(former),
  };
}

function openSecrets(row: SealedSource, sealer: Sealer): SourceSecrets {
  const { id, sealedSecret, sealedFormerSecrets, sealedVerifyToken } = row;
  const former = sealedFormerSecrets ? sealer.open(sealedFormerSecrets, placeOfFormer(id)).toString("utf8") : "[]";
  const [, ...formerValues] = secretsOf(row);
  return {
    current: sealer.open(sealedSecret, place(id)).toString("utf8"),
    former: (JSON.parse(former) as { secret: string }[]).flatMap(({ secret }, at) => {
      const value = formerValues[at];
      return value ? { ...value, secret } : [];
    }),
    verifyToken: sealedVerifyToken && sealer.open(sealedVerifyToken, placeOfToken(id)).toString("utf8"),
  };
}

export interface SourceWithSecrets {
  readonly source: Source;
  readonly secrets: SourceSecrets;
}

/** Finds a source for ingest, by its id alone: the sender has no account. */
export async function findSourceWithSecrets(db: Queryable, sealer: Sealer, id: string, now: Date) {
  const [row] = (await db.query<SealedSource>(findWithSecrets, [id])).rows;
  if (row === undefined) return null;
  const { sealedSecret, sealedFormerSecrets, sealedVerifyToken, sealedSenderKey: _, ...shown } = row;
  return { source: sourceFromRow(shown, now), secrets: openSecrets(row, sealer) };
}

export const findSourceIdAt = async (db: Queryable, address: string): Promise<string | null> =>
  (await db.query<{ id: string }>(findIdAt, [address])).rows[0]?.id ?? null;

/** A source with its partner's secrets, as read a while ago. */
export interface CachedSource extends SourceWithSecrets {
  /** Signature scheme of the partner, built once from the settings. */
  readonly scheme: SignatureScheme;
}

export const cachedSource = (source: Source, secrets: SourceSecrets): CachedSource => ({
  source,
  secrets,
  scheme: schemeOf(source.scheme, source.settings),
});
