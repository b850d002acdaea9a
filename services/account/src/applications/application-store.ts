import {
  advisoryLock,
  type ListRange,
  newestFirst,
  type Queryable,
  rangeValues,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { ApplicationSecret, StoredApplication } from "./stored-application.ts";

interface StoredSecret {
  readonly id: string;
  readonly digest: string;
  readonly createdAt: string;
  readonly endsAt: string | null;
}

type Row = Omit<StoredApplication, "secrets"> & { readonly secrets: readonly StoredSecret[] };

const applications = table("oauth_applications", columns.oauth_applications);
const update = applications.update(
  "name",
  "redirectUris",
  "postLogoutRedirectUris",
  "scopes",
  "logoUrl",
  "consent",
  "idTokenSignedResponseAlg",
  "secrets",
  "revision",
  "updatedAt",
);

const select = `select ${applications.columns} from oauth_applications`;
const findOne = sql("oauth-application.find", `${select} where id = $1`);
const lockOne = sql("oauth-application.lock", `${select} where id = $1 for update`);
const listAll = sql("oauth-application.list", `${select} where true and ${newestFirst(1)}`);
const countAll = sql("oauth-application.count", "select count(*)::int as count from oauth_applications");
const removeOne = sql("oauth-application.remove", "delete from oauth_applications where id = $1");

// The applications that administrators created, in PostgreSQL. Their secrets are digests.

export const findApplication = (db: Queryable, id: string) => first(db, findOne, id);

/** Reads the application and locks its row until the transaction ends. */
export const lockApplication = (tx: Tx, id: string) => first(tx, lockOne, id);

export async function listApplications(db: Queryable, range: ListRange): Promise<readonly StoredApplication[]> {
  return (await db.query<Row>(listAll, [...rangeValues(range)])).rows.map(fromRow);
}

/** Counts all, and keeps others from creating one until the transaction ends. */
export async function countApplicationsLocked(tx: Tx): Promise<number> {
  await advisoryLock(tx, "oauth applications");
  return (await tx.query<{ count: number }>(countAll)).rows[0]?.count ?? 0;
}

export const insertApplication = (tx: Tx, application: StoredApplication) =>
  applications.insert(tx, toRow(application));

/** Writes the mutable fields of a locked application. */
export const saveApplication = async (tx: Tx, application: StoredApplication): Promise<void> =>
  void (await update(tx, toRow(application)));

export const removeApplication = async (tx: Tx, id: string): Promise<void> => void (await tx.query(removeOne, [id]));

const first = async (db: Queryable, statement: typeof findOne, id: string): Promise<StoredApplication | null> =>
  (await db.query<Row>(statement, [id])).rows.map(fromRow)[0] ?? null;

const fromRow = ({ secrets, ...row }: Row): StoredApplication => ({ ...row, secrets: secrets.map(secretFrom) });

const secretFrom = ({ id, digest, createdAt, endsAt }: StoredSecret): ApplicationSecret => ({
  id,
  digest: Buffer.from(digest, "base64url"),
  createdAt: new Date(createdAt),
  endsAt: endsAt === null ? null : new Date(endsAt),
});

const toRow = ({ secrets, ...application }: StoredApplication) => ({
  ...application,
  secrets: secrets.map(({ digest, ...secret }) => ({ ...secret, digest: digest.toString("base64url") })),
});
