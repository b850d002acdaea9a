import { invalidCursor } from "@signalbox/http";
import { containing, type ListRange, type TimePosition } from "@signalbox/storage";
import type { Image } from "./image.ts";

export interface ImageFilter {
  /** A part of the title, the file name or a tag. */
  readonly text?: string | undefined;
  readonly tag?: string | undefined;
  readonly visibility?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly status?: string | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly sort?: ImageSort | undefined;
}

/** Orders of a list of images; a minus sign is descending. */
export const imageSorts = [
  ...(["-created_at", "created_at", "-updated_at", "updated_at"] as const),
  ...(["filename", "-filename", "size_bytes", "-size_bytes"] as const),
] as const;
export type ImageSort = (typeof imageSorts)[number];

type Column = "created_at" | "updated_at" | "filename" | "size_bytes";
type Key = NonNullable<TimePosition["key"]>;

/** An image with its place in the order of its list. */
export interface ListedImage extends Image {
  readonly key?: Key;
}

/** The keys of each order in a cursor. Lists by creation need none: a cursor has that time. */
const keys: Readonly<Record<Exclude<Column, "created_at">, (image: Image) => Key>> = {
  updated_at: ({ updatedAt }) => updatedAt.toISOString(),
  filename: ({ filename }) => filename,
  size_bytes: ({ sizeBytes }) => sizeBytes,
};

const columnOf = (sort: ImageSort): Column => sort.replace("-", "") as Column;

export function listedImage(image: Image, sort: ImageSort): ListedImage {
  const column = columnOf(sort);
  return column === "created_at" ? image : { ...image, key: keys[column](image) };
}

export const positionOfImage = ({ createdAt: at, id, key }: ListedImage): TimePosition =>
  key === undefined ? { at, id } : { at, id, key };

/**
 * Returns the value of the ordering column after which a list goes on.
 * @throws AppError `invalid_request` for a cursor with a key of another kind
 */
function startOf({ at, key }: TimePosition, column: Column): Date | Key {
  if (column === "created_at") return at;
  if (column === "size_bytes" && Number.isSafeInteger(key) && Math.abs(Number(key)) < 2 ** 31) return Number(key);
  if (column === "filename" && typeof key === "string") return key;
  const time = column === "updated_at" ? new Date(String(key)) : null;
  if (time === null || Number.isNaN(time.getTime())) throw invalidCursor();
  return time;
}

/**
 * Builds the statement of a list. It is planned for its filters and not prepared: each order has an index of the
 * account's images, and a tag may choose the index of tags. A text reads the account's images in the order of the list.
 */
export function listStatement(columns: string, accountId: string, { after, limit }: ListRange, filter: ImageFilter) {
  const { text, tag, visibility, mimeType, status, createdAfter, createdBefore, sort = "-created_at" } = filter;
  const values: unknown[] = [];
  const place = (value: unknown): string => `$${values.push(value)}`;
  // The first value: the columns may name the account too.
  const owner = place(accountId);
  const column = columnOf(sort);
  const [sign, direction] = sort.startsWith("-") ? ["<", "desc"] : [">", "asc"];
  const pattern = text === undefined ? null : place(containing(text));
  const conditions = [
    `account_id = ${owner}`,
    visibility !== undefined && `visibility = ${place(visibility)}`,
    mimeType !== undefined && `mime_type = ${place(mimeType)}`,
    status !== undefined && `status = ${place(status)}`,
    tag !== undefined && `tags @> array[${place(tag)}]::text[]`,
    createdAfter && `created_at > ${place(createdAfter)}`,
    createdBefore && `created_at < ${place(createdBefore)}`,
    pattern !== null &&
      `(filename ilike ${pattern} or title ilike ${pattern}
        or exists (select from unnest(tags) as tag where tag ilike ${pattern}))`,
    after && `(${column}, id) ${sign} (${place(startOf(after, column))}, ${place(after.id)})`,
  ].filter((condition) => typeof condition === "string");
  const query = `select ${columns} from images where ${conditions.join(" and ")}
    order by ${column} ${direction}, id ${direction} limit ${place(limit)}`;
  return { statement: { name: "", text: query }, values };
}
