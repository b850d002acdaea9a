import type { BinaryColumn } from "@signalbox/storage";

/** An id that the publisher of an event chose. */
export interface PublishedId {
  readonly accountId: string;
  readonly id: string;
  readonly digest: Buffer;
  readonly at: Date;
}

/** Identifies an id among those of all accounts. */
export const publishedKey = ({ accountId, id }: Pick<PublishedId, "accountId" | "id">): string => `${accountId} ${id}`;

export const keyColumns: readonly BinaryColumn<PublishedId>[] = [
  ["text", ({ accountId }) => accountId],
  ["text", ({ id }) => id],
];
/** Columns of the statements that note ids. */
export const noteColumns: readonly BinaryColumn<PublishedId>[] = [
  ...keyColumns,
  ["bytea", ({ digest }) => digest],
  ["timestamptz", ({ at }) => at],
];
