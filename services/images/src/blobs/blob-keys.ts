import { type Rendition, renditionKey } from "@signalbox/imaging";

/**
 * Identifies the bytes of an original. Each account has its own copy, so that no account learns about another's files
 * and a purge removes exactly its own.
 */
export interface OriginalId {
  readonly accountId: string;
  readonly sha256: string;
}

const nameOf = ({ accountId, sha256 }: OriginalId): string => `${accountId}/${sha256}`;

/** Builds the key of an original's bytes. */
export const originalKey = (original: OriginalId): string => `originals/${nameOf(original)}`;

/** Builds the key prefix of all renditions of an original. */
export const renditionPrefix = (original: OriginalId): string => `renditions/${nameOf(original)}/`;

/** Builds the key of one rendition of an original; see `@signalbox/imaging`. */
export const keyOf = (original: OriginalId, rendition: Rendition): string => renditionKey(nameOf(original), rendition);
