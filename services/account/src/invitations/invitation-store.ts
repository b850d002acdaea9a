import { hours } from "@signalbox/core";
import {
  type ListRange,
  newestFirst,
  type Queryable,
  type RetentionRule,
  rangeValues,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import { type Invitation, type InvitationRow, invitationFrom } from "./invitation.ts";

const invitations = table("invitations", columns.invitations);

const isUnused = "accepted_at is null and revoked_at is null";
const statusAt = (now: string) => `case when accepted_at is not null then 'accepted'
  when revoked_at is not null then 'revoked' when expires_at <= ${now} then 'expired' else 'open' end`;

const select = `select ${invitations.columns} from invitations`;
const findOne = sql("invitation.find", `${select} where id = $1`);
const lockOne = sql("invitation.lock", `${select} where id = $1 for update`);
const findByDigest = sql("invitation.find-by-digest", `${select} where digest = $1`);
const lockByDigest = sql("invitation.lock-by-digest", `${select} where digest = $1 for update`);
const lockOpenTo = sql(
  "invitation.lock-open-to",
  `${select} where canonical_address = $1 and ${isUnused} and expires_at > $2
     and (case when $3::text is null then member_role is null else member_role is not null and account_id = $3 end)
   order by created_at desc, id desc limit 1 for update`,
);
const list = sql(
  "invitation.list",
  `${select} where ($1::text is null or ${statusAt("$2::timestamptz")} = $1)
     and ($3::text is null or (account_id = $3 and member_role is not null)) and ${newestFirst(4)}`,
);
const save = invitations.update("digest", "expiresAt", "mailed", "acceptedAt", "acceptedBy", "revokedAt");

const countOfAccount = sql(
  "invitation.count-of-account",
  `select count(*) filter (where ${isUnused} and expires_at > $2)::int as open,
     coalesce(sum((select count(*) from unnest(mailed) as at where at > $3)), 0)::int as mails
   from invitations where account_id = $1`,
);
const countMailsTo = sql(
  "invitation.count-mails-to",
  `select count(*)::int as mails from invitations, unnest(mailed) as at where canonical_address = $1 and at > $2`,
);

export const findInvitation = (db: Queryable, id: string) => first(db, findOne, [id]);

export const lockInvitation = (tx: Tx, id: string) => first(tx, lockOne, [id]);

export const findInvitationByDigest = (db: Queryable, digest: Uint8Array) => first(db, findByDigest, [digest]);

export const lockInvitationByDigest = (tx: Tx, digest: Uint8Array) => first(tx, lockByDigest, [digest]);

/**
 * Locks the newest open invitation to an address, in its canonical form: into an account, or with null to this
 * deployment.
 */
export const lockOpenInvitationTo = (tx: Tx, canonical: string, now: Date, accountId: string | null = null) =>
  first(tx, lockOpenTo, [canonical, now, accountId]);

/** Lists invitations, newest first: those into an account, or with null all of them; null lists every status. */
export async function listInvitations(
  db: Queryable,
  { status, accountId }: { readonly status: string | null; readonly accountId: string | null },
  now: Date,
  range: ListRange,
): Promise<Invitation[]> {
  const { rows } = await db.query<InvitationRow>(list, [status, now, accountId, ...rangeValues(range)]);
  return rows.map(invitationFrom);
}

export const insertInvitation = (tx: Tx, invitation: Invitation) => invitations.insert(tx, invitation);

export const saveInvitation = async (tx: Tx, invitation: Invitation) => void (await save(tx, invitation));

/** Counts the open invitations of an account, and its invitation mails since a time. */
export async function countInvitationsOf(tx: Tx, accountId: string, now: Date, since: Date) {
  const { rows } = await tx.query<{ open: number; mails: number }>(countOfAccount, [accountId, now, since]);
  return rows[0] ?? { open: 0, mails: 0 };
}

/** Counts the invitation mails to an address since a time, by any account. */
export async function countInvitationMailsTo(tx: Tx, canonical: string, since: Date): Promise<number> {
  return (await tx.query<{ mails: number }>(countMailsTo, [canonical, since])).rows[0]?.mails ?? 0;
}

const first = async (db: Queryable, statement: typeof findOne, values: Parameters<Queryable["query"]>[1]) => {
  const [row] = (await db.query<InvitationRow>(statement, values)).rows;
  return row ? invitationFrom(row) : null;
};

/** Long enough to answer a late person that the invitation has expired, rather than that it is unknown. */
export const invitationRetention: RetentionRule = {
  name: "invitation retention",
  table: "invitations",
  column: "expires_at",
  keepMs: hours(24 * 30),
};
