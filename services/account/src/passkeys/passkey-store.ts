import { type ListRange, newestFirst, type Queryable, rangeValues, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { Passkey } from "./passkey.ts";

const passkeys = table("passkeys", columns.passkeys);
const saveName = passkeys.update("name");
const select = `select ${passkeys.columns} from passkeys`;
const listAll = sql("passkey.list", `${select} where account_id = $1 and ${newestFirst(2)}`);
const listOfAccount = sql("passkey.of-account", `${select} where account_id = $1 order by created_at, id`);
const findOne = sql("passkey.find", `${select} where account_id = $1 and id = $2`);
const findByCredential = sql("passkey.find-by-credential", `${select} where credential_id = $1`);
const removeOne = sql("passkey.remove", "delete from passkeys where id = $1");
/** A counter that does not rise belongs to a copy; an authenticator that does not count stays at 0. */
const noteUse = sql(
  "passkey.note-use",
  `update passkeys set counter = $2, last_used_at = $3
   where id = $1 and (counter < $2 or (counter = 0 and $2 = 0))`,
);

// Passkeys in PostgreSQL. Writers lock the account first.

export async function listPasskeys(db: Queryable, accountId: string, range: ListRange): Promise<readonly Passkey[]> {
  return (await db.query<Passkey>(listAll, [accountId, ...rangeValues(range)])).rows;
}

/** All passkeys of an account, the oldest first: it has few. */
export async function passkeysOf(db: Queryable, accountId: string): Promise<readonly Passkey[]> {
  return (await db.query<Passkey>(listOfAccount, [accountId])).rows;
}

export const findPasskey = (db: Queryable, accountId: string, id: string) => first(db, findOne, [accountId, id]);

export const findPasskeyByCredential = (db: Queryable, credentialId: Buffer) =>
  first(db, findByCredential, [credentialId]);

/** Returns false when this credential is known already. */
export const insertPasskey = (tx: Tx, passkey: Passkey): Promise<boolean> => passkeys.insertNew(tx, passkey);

export const savePasskeyName = async (tx: Tx, passkey: Passkey): Promise<void> => void (await saveName(tx, passkey));

export const deletePasskey = async (tx: Tx, id: string): Promise<void> => void (await tx.query(removeOne, [id]));

/** Notes a use. Returns false when the counter did not rise. */
export async function notePasskeyUse(tx: Tx, id: string, counter: number, at: Date): Promise<boolean> {
  return (await tx.query(noteUse, [id, counter, at])).rowCount === 1;
}

const first = async (db: Queryable, ...[statement, values]: Parameters<Queryable["query"]>) =>
  (await db.query<Passkey>(statement, values)).rows[0] ?? null;
