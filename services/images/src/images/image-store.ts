import { Copies } from "@signalbox/cache";
import type { ImageResource } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { type ListRange, type Pool, type Queryable, sql, type Tx, table } from "@signalbox/storage";
import type { OriginalId } from "../blobs/blob-keys.ts";
import { columns } from "../generated/columns.ts";
import type { Image } from "./image.ts";
import { type ImageFilter, type ListedImage, listedImage, listStatement } from "./image-list.ts";
import { renderWaitMs } from "./render-job.ts";

export type ImageStore = ReturnType<typeof createImageStore>;

// Computed by the database's clock, which is the same for all instances.
const fromNow = "interval + statement_timestamp()";
const images = table("images", { ...columns.images, renderDueAt: fromNow });

/** The columns of a record that may change. */
const changing = [
  "filename",
  "title",
  "caption",
  "altText",
  "tags",
  "visibility",
  "status",
  "placeholder",
  "dominantColor",
  "failureCode",
  "failedAt",
  "focalX",
  "focalY",
  "renderJobId",
  "renderAttempt",
  "renderIssues",
  "revision",
  "updatedAt",
] as const;
const saveImage = images.update(...changing);
const saveIssued = images.update(...changing, "renderDueAt");

const findImage = sql("image.find", `select ${images.columns} from images where id = $1`);
const findImages = sql(
  "image.find-own-many",
  `select ${images.columns} from images where account_id = $1 and id = any($2)`,
);
const findOfOriginal = sql(
  "image.find-of-original",
  `select ${images.columns} from images where account_id = $1 and sha256 = $2 order by created_at desc limit 1`,
);
const lockImage = sql("image.lock", `select ${images.columns} from images where id = $1 for update`);
const lockOwnMany = sql(
  "image.lock-own-many",
  `select ${images.columns} from images where account_id = $1 and id = any($2) order by id for update`,
);
const lockSome = sql(
  "image.lock-some-of-account",
  `select ${images.columns} from images where account_id = $1 order by id limit $2 for update`,
);
const lockLost = sql(
  "image.lock-lost",
  `select ${images.columns} from images where status = 'processing' and render_due_at <= statement_timestamp()
   order by render_due_at limit $1 for update skip locked`,
);
// Two concurrent inserts must not both fit into the quota: the second waits for the first.
const lockUsage = sql("image.lock-usage", "select pg_advisory_xact_lock(hashtextextended('image quota ' || $1, 0))");
const sumUsage = sql(
  "image.sum-usage",
  `select count(*)::float8 as images,
     (select coalesce(sum(size_bytes), 0) from (select distinct sha256, size_bytes from images where account_id = $1) o)::float8 as bytes
   from images where account_id = $1`,
);
const deleteImage = sql("image.delete", "delete from images where id = $1");
const deleteImages = sql("image.delete-many", "delete from images where id = any($1)");
/** Too short to be noticed, and long enough for a popular image to be read once a second. */
const copyMs = seconds(1);

interface Dependencies {
  readonly pool: Pool;
  /** Time after which the first job of an image counts as lost when it was not answered. */
  readonly lostAfterMs: () => number;
}

/** Image records in PostgreSQL. */
export function createImageStore({ pool, lostAfterMs }: Dependencies) {
  const copies = new Copies((imageId) => first(pool, findImage, [imageId]), { max: 10_000, ttlMs: copyMs });

  return {
    /** Finds an image of any account, at most a second old: callers check the access. */
    find: (imageId: string) => copies.find(imageId),

    /** Returns true while `find` would return this very record. */
    isCurrent: (image: Image) => copies.holds(image.id, image),

    ...readsOf(pool),

    /** Inserts a record, whose render job is sent now. */
    insert: (tx: Tx, image: Image) => images.insert(tx, issuedRowOf(image, lostAfterMs())),

    /**
     * Counts an account's images and the bytes of its originals, and blocks other counting transactions of the account.
     */
    lockUsage: usageOf,

    /** Writes the changeable columns of a locked image. */
    async save(tx: Tx, image: Image): Promise<void> {
      await saveImage(tx, rowOf(image));
      copies.forgetAfter(tx, [image.id]);
    },

    /** Writes the same columns of an image whose render job is sent now. */
    async saveIssued(tx: Tx, image: Image): Promise<void> {
      await saveIssued(tx, issuedRowOf(image, lostAfterMs()));
      copies.forgetAfter(tx, [image.id]);
    },

    /** Removes a locked record. */
    async remove(tx: Tx, { id }: Image): Promise<void> {
      await tx.query(deleteImage, [id]);
      copies.forgetAfter(tx, [id]);
    },

    /** Removes locked records without tombstones. */
    async removeMany(tx: Tx, imageIds: readonly string[]): Promise<void> {
      await tx.query(deleteImages, [imageIds]);
      copies.forgetAfter(tx, imageIds);
    },
  };
}

/** The reads that always see the present state, and the locks. */
const readsOf = (pool: Pool) => ({
  findOwn: async (accountId: string, imageId: string) => ownOf(accountId, await first(pool, findImage, [imageId])),

  /** Finds the newest record of an original of this account. */
  findOfOriginal: ({ accountId, sha256 }: OriginalId) => first(pool, findOfOriginal, [accountId, sha256]),

  findOwnMany: (accountId: string, imageIds: readonly string[]) => all(pool, findImages, [accountId, imageIds]),

  async list(accountId: string, range: ListRange, filter: ImageFilter = {}): Promise<ListedImage[]> {
    const { statement, values } = listStatement(images.columns, accountId, range, filter);
    const found = await all(pool, statement, values);
    return found.map((image) => listedImage(image, filter.sort ?? "-created_at"));
  },

  /** Finds the image and locks it until the transaction ends. */
  lock: (tx: Tx, imageId: string) => first(tx, lockImage, [imageId]),

  lockOwn: async (tx: Tx, accountId: string, imageId: string) =>
    ownOf(accountId, await first(tx, lockImage, [imageId])),

  /** Locks those of the images that the account has, in one order, so that two callers do not wait for each other. */
  lockOwnMany: (tx: Tx, accountId: string, imageIds: readonly string[]) => all(tx, lockOwnMany, [accountId, imageIds]),

  lockSomeOf: (tx: Tx, accountId: string, limit: number) => all(tx, lockSome, [accountId, limit]),

  /** Locks images with an overdue render job; other instances may work on the rest. */
  lockLost: (tx: Tx, limit: number) => all(tx, lockLost, [limit]),
});

async function usageOf(tx: Tx, accountId: string): Promise<{ readonly images: number; readonly bytes: number }> {
  await tx.query(lockUsage, [accountId]);
  const { rows } = await tx.query<{ images: number; bytes: number }>(sumUsage, [accountId]);
  return rows[0] ?? { images: 0, bytes: 0 };
}

const all = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Image[]> =>
  (await from.query<Row>(...query)).rows.map(imageFrom);

async function first(from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Image | null> {
  return (await all(from, ...query))[0] ?? null;
}

const ownOf = (accountId: string, image: Image | null): Image | null => (image?.accountId === accountId ? image : null);

type Row = Omit<Image, "focalPoint" | "visibility" | "status"> & {
  readonly visibility: string;
  readonly status: string;
  readonly focalX: number | null;
  readonly focalY: number | null;
};

function rowOf({ focalPoint, ...image }: Image): Row {
  return { ...image, focalX: focalPoint?.x ?? null, focalY: focalPoint?.y ?? null };
}

/** Builds the row of an image whose render job is sent now; the time until it counts as lost grows with each issue. */
const issuedRowOf = (image: Image, lostAfterMs: number) => ({
  ...rowOf(image),
  renderDueAt: `${renderWaitMs(image.renderIssues, lostAfterMs)} milliseconds`,
});

function imageFrom({ focalX, focalY, ...row }: Row): Image {
  return {
    ...row,
    visibility: row.visibility as ImageResource["visibility"],
    status: row.status as ImageResource["status"],
    focalPoint: focalX === null || focalY === null ? null : { x: focalX, y: focalY },
  };
}
