import { createHash } from "node:crypto";
import { builtInIssuer } from "@signalbox/auth";
import { examples, timestamp } from "@signalbox/contracts";
import { base62 } from "@signalbox/core";
import { type Queryable, sql, type Tx } from "@signalbox/storage";
import { z } from "zod";
import type { Identity } from "../accounts/account-store.ts";

export interface LinkedIdentity extends Identity {
  readonly createdAt: Date;
}

/** Returns the public id of a login: opaque, and the same wherever it is computed. */
export function identityId({ issuer, subject }: Identity): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([issuer, subject]))
    .digest();
  return `idn_${base62(digest.subarray(0, 16), 22)}`;
}

export const sameIdentity = (one: Identity, other: Identity): boolean =>
  one.issuer === other.issuer && one.subject === other.subject;

export const IdentityResource = z
  .object({
    id: z.string().describe("Opaque."),
    issuer: z.string().describe("The configured name of the identity provider."),
    subject_hint: z.string().describe("The beginning of the subject, which distinguishes your logins."),
    current: z.boolean().describe("True when this request came with a token of this login."),
    created_at: timestamp,
  })
  .meta({ id: "Identity", description: "A login of the account." })
  .register(examples, {
    example: {
      id: "idn_3dWq9LcN5wYfKb0ZrVxPsd",
      issuer: "corp",
      subject_hint: "9f31…",
      current: true,
      created_at: "2026-01-01T09:00:00.000Z",
    },
  });

const listIdentities = sql(
  "identity.list",
  `select issuer, subject, created_at as "createdAt" from identities
   where account_id = $1 order by created_at, issuer, subject`,
);
const linkIdentity = sql(
  "identity.link",
  `insert into identities (issuer, subject, account_id, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
);
const unlinkIdentity = sql(
  "identity.unlink",
  "delete from identities where issuer = $1 and subject = $2 and account_id = $3",
);
const findAccountOf = sql(
  "identity.find-account",
  "select account_id as id from identities where issuer = $1 and subject = $2",
);
const findBornElsewhere = sql(
  "identity.find-born-elsewhere",
  `select id from accounts
   where id = any ($1)
     and exists (select 1 from identities
       where account_id = id and issuer = any ($2) and identities.created_at = accounts.created_at)
     and not exists (select 1 from identities where account_id = id and issuer = $3)`,
);
const findManagingKey = sql(
  "identity.find-managing-key",
  `select 1 from api_keys where account_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
     and 'account:security' = any(scopes) limit 1`,
);

// The logins of accounts. Writers lock the account first.

/** The logins of an account, the oldest first. */
export async function identitiesOf(db: Queryable, accountId: string): Promise<readonly LinkedIdentity[]> {
  return (await db.query<LinkedIdentity>(listIdentities, [accountId])).rows;
}

/** Finds the account of a login; null for one that has none. */
export async function accountOfIdentity(db: Queryable, { issuer, subject }: Identity): Promise<string | null> {
  return (await db.query<{ id: string }>(findAccountOf, [issuer, subject])).rows[0]?.id ?? null;
}

/** Adds a login to an account. Returns false when an account already has it. */
export async function insertIdentity(
  tx: Tx,
  accountId: string,
  { issuer, subject, createdAt }: LinkedIdentity,
): Promise<boolean> {
  return (await tx.query(linkIdentity, [issuer, subject, accountId, createdAt])).rowCount === 1;
}

export async function removeIdentity(tx: Tx, accountId: string, { issuer, subject }: Identity): Promise<void> {
  await tx.query(unlinkIdentity, [issuer, subject, accountId]);
}

/** Finds the accounts among these that a login at one of the issuers created. */
export async function bornAt(
  db: Queryable,
  issuers: readonly string[],
  accountIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(findBornElsewhere, [accountIds, issuers, builtInIssuer]);
  return new Set(rows.map(({ id }) => id));
}

/** Returns true when an API key that is valid at `now` could manage the account without any login. */
export async function hasManagingKey(tx: Tx, accountId: string, now: Date): Promise<boolean> {
  return (await tx.query(findManagingKey, [accountId, now])).rowCount > 0;
}
