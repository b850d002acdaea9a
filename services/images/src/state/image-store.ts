import type { ImageResource } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import type { Properties } from "@signalbox/images-service/properties";
import type { Configuration } from "@signalbox/runtime";
import { Copies, type ListRange, type Pool, type Queryable, sql, type Tx, table } from "@signalbox/storage";
import type { OriginalId } from "../blobs/blob-keys.ts";
import { columns } from "../generated/columns.ts";
import type { Image } from "./image.ts";
import { type ImageFilter, type ListedImage, listedImage, listStatement } from "./image-list.ts";
import { renderWaitMs } from "./render-job.ts";

// Computed by the database's clock, which is the same for all instances.
const fromNow = "interval + statement_timestamp()";
const images = table("images", { ...columns.images, renderDueAt: fromNow });

/** The columns of a record that may change. */
const changing = [
  ...(["filename", "title", "caption", "altText", "tags", "visibility", "focalX", "focalY"] as const),
  ...(["status", "placeholder", "dominantColor", "failureCode", "failedAt", "revision", "updatedAt"] as const),
  ...(["renderJobId", "renderAttempt", "renderIssues"] as const),
] as const;
const saveImage = images.update(...changing);
const saveIssued = images.update(...changing, "renderDueAt");

/** The columns of a record, with the versions of its owner's transformations, which a named account has read once. */
const shown = (accountId = "images.account_id") =>
  `${images.columns}, coalesce((select jsonb_object_agg(name, version) from transformations
    where transformations.account_id = ${accountId}), '{}') as transformations`;
const select = `select ${shown()} from images`;
const selectOf = `select ${shown("$1")} from images where account_id = $1`;
const statements = {
  find: sql("image.find", `${select} where id = $1`),
  findOwnMany: sql("image.find-own-many", `${selectOf} and id = any($2)`),
  findOfOriginal: sql("image.find-of-original", `${selectOf} and sha256 = $2 order by created_at desc limit 1`),
  lock: sql("image.lock", `${select} where id = $1 for update`),
  lockOwnMany: sql("image.lock-own-many", `${selectOf} and id = any($2) order by id for update`),
  lockSome: sql("image.lock-some-of-account", `${selectOf} order by id limit $2 for update`),
  lockLost: sql(
    "image.lock-lost",
    `${select} where status = 'processing' and render_due_at <= statement_timestamp()
   order by render_due_at limit $1 for update skip locked`,
  ),
  // Two concurrent inserts must not both fit into the quota: the second waits for the first.
  lockUsage: sql("image.lock-usage", "select pg_advisory_xact_lock(hashtextextended('image quota ' || $1, 0))"),
  sumUsage: sql(
    "image.sum-usage",
    `select count(*)::float8 as images,
     (select coalesce(sum(size_bytes), 0) from (select distinct sha256, size_bytes from images where account_id = $1) o)::float8 as bytes
   from images where account_id = $1`,
  ),
  remove: sql("image.delete", "delete from images where id = any($1)"),
};
/** Too short to be noticed, and long enough for a popular image to be read once a second. */
const copies = { max: 10_000, ttlMs: seconds(1) };

/** Image records in PostgreSQL, and copies of those that were read a moment ago. */
export class ImageStore {
  readonly #pool: Pool;
  readonly #configuration: Configuration<Properties>;
  readonly #copies: Copies<Image | null>;

  constructor(pool: Pool, configuration: Configuration<Properties>) {
    this.#pool = pool;
    this.#configuration = configuration;
    this.#copies = new Copies((imageId) => first(pool, statements.find, [imageId]), copies);
  }

  /** Finds an image of any account, at most a second old: callers check the access. */
  find(imageId: string): Promise<Image | null> {
    return this.#copies.find(imageId);
  }

  /** Returns true while `find` would return this very record. */
  isCurrent(image: Image): boolean {
    return this.#copies.holds(image.id, image);
  }

  /** Finds an image of this account as it is now. */
  async findOwn(accountId: string, imageId: string, db: Queryable = this.#pool): Promise<Image | null> {
    return ownOf(accountId, await first(db, statements.find, [imageId]));
  }

  findOwnMany(accountId: string, imageIds: readonly string[]): Promise<Image[]> {
    return all(this.#pool, statements.findOwnMany, [accountId, imageIds]);
  }

  /** Finds the newest record of an original of this account. */
  findOfOriginal({ accountId, sha256 }: OriginalId): Promise<Image | null> {
    return first(this.#pool, statements.findOfOriginal, [accountId, sha256]);
  }

  async list(accountId: string, range: ListRange, filter: ImageFilter = {}): Promise<ListedImage[]> {
    const { statement, values } = listStatement(shown("$1"), accountId, range, filter);
    const found = await all(this.#pool, statement, values);
    return found.map((image) => listedImage(image, filter.sort ?? "-created_at"));
  }

  /** Finds the image and locks it until the transaction ends. */
  lock(tx: Tx, imageId: string): Promise<Image | null> {
    return first(tx, statements.lock, [imageId]);
  }

  async lockOwn(tx: Tx, accountId: string, imageId: string): Promise<Image | null> {
    return ownOf(accountId, await this.lock(tx, imageId));
  }

  /** Locks those of the images that the account has, in one order, so that two callers do not wait for each other. */
  lockOwnMany(tx: Tx, accountId: string, imageIds: readonly string[]): Promise<Image[]> {
    return all(tx, statements.lockOwnMany, [accountId, imageIds]);
  }

  lockSomeOf(tx: Tx, accountId: string, limit: number): Promise<Image[]> {
    return all(tx, statements.lockSome, [accountId, limit]);
  }

  /** Locks images with an overdue render job; other instances may work on the rest. */
  lockLost(tx: Tx, limit: number): Promise<Image[]> {
    return all(tx, statements.lockLost, [limit]);
  }

  /**
   * Counts an account's images and the bytes of its originals, and blocks other counting transactions of the account.
   */
  async lockUsage(tx: Tx, accountId: string): Promise<{ readonly images: number; readonly bytes: number }> {
    await tx.query(statements.lockUsage, [accountId]);
    const { rows } = await tx.query<{ images: number; bytes: number }>(statements.sumUsage, [accountId]);
    return rows[0] ?? { images: 0, bytes: 0 };
  }

  /** Inserts a record, whose render job is sent now. */
  async insert(tx: Tx, image: Image): Promise<void> {
    await images.insert(tx, this.#issuedRowOf(image));
  }

  /** Writes the changeable columns of a locked image. */
  async save(tx: Tx, image: Image): Promise<void> {
    await saveImage(tx, rowOf(image));
    this.#copies.forgetAfter(tx, [image.id]);
  }

  /** Writes the same columns of an image whose render job is sent now. */
  async saveIssued(tx: Tx, image: Image): Promise<void> {
    await saveIssued(tx, this.#issuedRowOf(image));
    this.#copies.forgetAfter(tx, [image.id]);
  }

  /** Removes locked records. */
  async remove(tx: Tx, imageIds: readonly string[]): Promise<void> {
    await tx.query(statements.remove, [imageIds]);
    this.#copies.forgetAfter(tx, imageIds);
  }

  /** Builds the row of an image whose render job is sent now; the time until it counts as lost grows with each issue. */
  #issuedRowOf(image: Image) {
    const lostAfterMs = this.#configuration.get("images.render.lost-after");
    return { ...rowOf(image), renderDueAt: `${renderWaitMs(image.renderIssues, lostAfterMs)} milliseconds` };
  }
}

const all = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Image[]> =>
  (await from.query<Row>(...query)).rows.map(imageFrom);

const first = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Image | null> =>
  (await all(from, ...query))[0] ?? null;

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

function imageFrom({ focalX, focalY, ...row }: Row): Image {
  return {
    ...row,
    visibility: row.visibility as ImageResource["visibility"],
    status: row.status as ImageResource["status"],
    focalPoint: focalX === null || focalY === null ? null : { x: focalX, y: focalY },
  };
}
