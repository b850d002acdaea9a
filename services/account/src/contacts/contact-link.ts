import { createHash, randomBytes } from "node:crypto";
import type { Account } from "../accounts/account.ts";

/** A link confirms that its reader holds the address it was sent to, or objects to the change of that address. */
type ContactLinkKind = "confirm" | "object";

export interface ContactLink {
  /** Counts up: of two objections the one with the lower id is of the earlier holder. */
  readonly id: bigint;
  readonly accountId: string;
  readonly kind: ContactLinkKind;
  /** The address it was sent to: the pending one, or the one that was in use. */
  readonly address: string;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
}

/**
 * Makes a token. It is part of a path, which request logs show, so it has the shape of our secrets (`sbx_…`), which every
 * log masks.
 */
export const newLinkToken = (): string => `sbx_link_${randomBytes(32).toString("base64url")}`;

/** Digests a token for the database. It has 256 random bits, so nothing can be guessed from the digest. */
export const digestLinkToken = (token: string): Buffer => createHash("sha256").update(token).digest();

export const linkPath = (token: string): string => `/api/account/contact-links/${token}`;

/** Where the built-in issuer answers links that confirm: below its path a browser shows whom it is signed in as. */
export const confirmationPath = "/oauth/contact-links";

/** A link works once, until it expires. */
export const isOpen = ({ usedAt, expiresAt }: ContactLink, now: Date): boolean => usedAt === null && expiresAt > now;

/** Names an account to a reader who may not be its owner: by its name, and by a hint of its verified address. */
export function labelOf({ displayName, contactAddress, contactAddressVerified }: Account): string {
  const hint = contactAddress !== null && contactAddressVerified ? ` (${hintOf(contactAddress)})` : "";
  return `“${displayName}”${hint}`;
}

/** Shortens an address so that its holder knows it, and nobody else can write to it. */
export function hintOf(address: string): string {
  const at = address.lastIndexOf("@");
  return `${[...address][0]}…${address.slice(at)}`;
}
