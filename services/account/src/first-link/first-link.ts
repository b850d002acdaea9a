import { randomBytes } from "node:crypto";
import { hours } from "@signalbox/core";
import { type Queryable, type RetentionRule, sql, type Tx, table } from "@signalbox/storage";
import { digestLinkToken } from "../contacts/contact-link.ts";
import { columns } from "../generated/columns.ts";

/** A link that signs the first administrator in, once. */
export interface FirstLink {
  /** SHA-256 of its token. */
  readonly digest: Uint8Array;
  readonly accountId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
}

/** The path below which the links are; the browser sends the session cookie of the built-in issuer there. */
export const firstLinkPath = "/oauth/first-link";

/**
 * Creates a link. Its token has the shape of our secrets, which every log masks, and 128 random bits: the address fits
 * a line of a terminal, and lives for ten minutes.
 */
export function newFirstLink(): { readonly token: string; readonly digest: Buffer } {
  const token = `sbx_link_${randomBytes(16).toString("base64url")}`;
  return { token, digest: digestLinkToken(token) };
}

const links = table("first_links", columns.first_links);

const find = sql("first-link.find", `select ${links.columns} from first_links where digest = $1`);
const lock = sql("first-link.lock", `select ${links.columns} from first_links where digest = $1 for update`);
const markUsed = sql("first-link.mark-used", "update first_links set used_at = $2 where digest = $1");
const endOpen = sql(
  "first-link.end-open",
  "update first_links set expires_at = $1 where used_at is null and expires_at > $1",
);

export const findFirstLink = (db: Queryable, token: string) => first(db, find, token);

export const lockFirstLink = (tx: Tx, token: string) => first(tx, lock, token);

export const insertFirstLink = (tx: Tx, link: FirstLink) => links.insert(tx, link);

export async function markFirstLinkUsed(tx: Tx, { digest }: FirstLink, at: Date): Promise<void> {
  await tx.query(markUsed, [digest, at]);
}

/** Ends every link that is still open. */
export async function endOpenFirstLinks(tx: Tx, at: Date): Promise<void> {
  await tx.query(endOpen, [at]);
}

const first = async (db: Queryable, statement: typeof find, token: string): Promise<FirstLink | null> =>
  (await db.query<FirstLink>(statement, [digestLinkToken(token)])).rows[0] ?? null;

/** Long enough to answer a late person that the link has ended, rather than that it is unknown. */
export const firstLinkRetention: RetentionRule = {
  name: "first link retention",
  table: "first_links",
  column: "expires_at",
  keepMs: hours(24),
};
