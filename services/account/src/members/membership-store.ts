import { type ListRange, newestFirst, type Queryable, rangeValues, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import { type Membership, type MembershipRow, membershipFrom, type NamedMembership } from "./membership.ts";

const memberships = table("memberships", columns.memberships);
const saveRole = memberships.update("role");
const select = `select ${memberships.columns} from memberships`;
const findOne = sql("membership.find", `${select} where id = $1`);
const findOfPerson = sql("membership.find-of-person", `${select} where account_id = $1 and member_id = $2`);
const allOfPerson = sql("membership.all-of-person", `${select} where member_id = $1 order by account_id`);
const removeOne = sql("membership.remove", "delete from memberships where id = $1");

/** People and accounts that are deleted are not shown, and come back when the deletion is undone. */
const named = `select * from (
    select memberships.id, account_id as "accountId", member_id as "memberId", role,
      memberships.created_at as "createdAt", invited_by as "invitedBy",
      account.display_name as "accountName", person.display_name as "memberName"
    from memberships join accounts as account on account.id = account_id join accounts as person on person.id = member_id
    where account.status <> 'deleted' and person.status <> 'deleted') as named`;
const listOfAccount = sql(
  "membership.list-of-account",
  `${named} where "accountId" = $1 and ${newestFirst(2, '"createdAt"')}`,
);
const listOfPerson = sql(
  "membership.list-of-person",
  `${named} where "memberId" = $1 and ${newestFirst(2, '"createdAt"')}`,
);
const findNamed = sql("membership.find-named", `${named} where id = $1`);
const countMembers = sql("membership.count", "select count(*)::int as count from memberships where account_id = $1");
const findOtherOwner = sql(
  "membership.find-other-owner",
  `select 1 from memberships join accounts on accounts.id = member_id
   where account_id = $1 and memberships.id <> $2 and role = 'owner' and status = 'active' limit 1`,
);

// Memberships in PostgreSQL. Writers lock the account first, which is the one of `accountId`.

export const listMembers = (db: Queryable, accountId: string, range: ListRange) =>
  list(db, listOfAccount, accountId, range);

export const listMembershipsOf = (db: Queryable, memberId: string, range: ListRange) =>
  list(db, listOfPerson, memberId, range);

export const findMembership = (db: Queryable, id: string) => first(db, findOne, [id]);

export const findMembershipOf = (db: Queryable, accountId: string, memberId: string) =>
  first(db, findOfPerson, [accountId, memberId]);

/** All memberships of a person, in the order in which their accounts are locked. */
export async function membershipsOf(db: Queryable, memberId: string): Promise<readonly Membership[]> {
  return (await db.query<MembershipRow>(allOfPerson, [memberId])).rows.map((row) => membershipFrom(row));
}

export async function findNamedMembership(db: Queryable, id: string): Promise<NamedMembership | null> {
  const [row] = (await db.query<MembershipRow<NamedMembership>>(findNamed, [id])).rows;
  return row ? membershipFrom<NamedMembership>(row) : null;
}

export async function countMembersOf(db: Queryable, accountId: string): Promise<number> {
  return (await db.query<{ count: number }>(countMembers, [accountId])).rows[0]?.count ?? 0;
}

/** Returns true when another person who is active owns the account by membership. */
export async function hasOtherOwner(tx: Tx, { accountId, id }: Membership): Promise<boolean> {
  return (await tx.query(findOtherOwner, [accountId, id])).rowCount === 1;
}

export const insertMembership = (tx: Tx, membership: Membership) => memberships.insert(tx, membership);

export const saveMemberRole = async (tx: Tx, membership: Membership) => void (await saveRole(tx, membership));

export const deleteMembership = async (tx: Tx, id: string) => void (await tx.query(removeOne, [id]));

async function list(db: Queryable, statement: typeof findOne, id: string, range: ListRange) {
  const { rows } = await db.query<MembershipRow<NamedMembership>>(statement, [id, ...rangeValues(range)]);
  return rows.map((row) => membershipFrom<NamedMembership>(row));
}

async function first(db: Queryable, statement: typeof findOne, values: readonly string[]): Promise<Membership | null> {
  const [row] = (await db.query<MembershipRow>(statement, [...values])).rows;
  return row ? membershipFrom(row) : null;
}
