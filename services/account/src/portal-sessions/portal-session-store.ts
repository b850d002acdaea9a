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
import type { PortalSession } from "./portal-session.ts";

const sessions = table("portal_sessions", columns.portal_sessions);
const select = `select ${sessions.columns} from portal_sessions`;
const find = sql("portal_sessions.find", `${select} where account_id = $1 and id = $2`);
const findByDigest = sql("portal_sessions.find-by-digest", `${select} where digest = $1`);
const lock = sql("portal_sessions.lock", `${select} where account_id = $1 and id = $2 for update`);
const list = sql("portal_sessions.list", `${select} where account_id = $1 and ${newestFirst(2)}`);
const countLive = sql(
  "portal_sessions.count-live",
  `select count(*)::int as count from portal_sessions where account_id = $1 and ended_at is null and expires_at > $2`,
);
const save = sessions.update("endedAt");

// Portal sessions in PostgreSQL. Requests name the account, so a session of another account reads as missing.

export const findPortalSession = async (db: Queryable, accountId: string, id: string): Promise<PortalSession | null> =>
  (await db.query<PortalSession>(find, [accountId, id])).rows[0] ?? null;

export const findPortalSessionByDigest = async (db: Queryable, digest: Uint8Array): Promise<PortalSession | null> =>
  (await db.query<PortalSession>(findByDigest, [digest])).rows[0] ?? null;

export const listPortalSessions = async (
  db: Queryable,
  accountId: string,
  range: ListRange,
): Promise<PortalSession[]> => (await db.query<PortalSession>(list, [accountId, ...rangeValues(range)])).rows;

export const lockPortalSession = async (tx: Tx, accountId: string, id: string): Promise<PortalSession | null> =>
  (await tx.query<PortalSession>(lock, [accountId, id])).rows[0] ?? null;

export const insertPortalSession = (tx: Tx, session: PortalSession): Promise<void> => sessions.insert(tx, session);

export const savePortalSession = async (tx: Tx, session: PortalSession): Promise<void> =>
  void (await save(tx, session));

/** Counts sessions that are accepted. Writers that add one lock the account first. */
export const countLivePortalSessions = async (tx: Tx, accountId: string, now: Date): Promise<number> =>
  (await tx.query<{ count: number }>(countLive, [accountId, now])).rows[0]?.count ?? 0;

/** Long enough to say that a link has expired, rather than that it is unknown. */
export const portalSessionRetention: RetentionRule = {
  name: "portal session retention",
  table: "portal_sessions",
  column: "expires_at",
  keepMs: hours(24),
};
