import type { ImageResource } from "@signalbox/contracts";
import { type Pool, type Queryable, sql, type Tx } from "@signalbox/storage";
import type { Prisma, PrismaClient } from "../generated/prisma/client.ts";
import type { Image } from "./image.ts";

/** Where a list goes on: after the image made at this time with this id. */
export interface ImagePosition {
  readonly createdAt: Date;
  readonly id: string;
}

export interface ImageFilter {
  readonly tag?: string | undefined;
  readonly visibility?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

type Row = Omit<Image, "focalPoint" | "visibility" | "status"> & {
  visibility: string;
  status: string;
  focalX: number | null;
  focalY: number | null;
};

const columns = `id, account_id as "accountId", filename, mime_type as "mimeType", width, height, size_bytes as "sizeBytes",
  sha256, frames, has_alpha as "hasAlpha", is_progressive as "isProgressive", title, caption, alt_text as "altText", tags,
  visibility, status, placeholder, focal_x as "focalX", focal_y as "focalY", render_job_id as "renderJobId", render_attempt as "renderAttempt", revision,
  created_at as "createdAt", updated_at as "updatedAt"`;

const findImage = sql("image.find", `select ${columns} from images where id = $1`);
const lockImage = sql("image.lock", `select ${columns} from images where id = $1 for update`);
const lockSome = sql(
  "image.lock-some-of-account",
  `select ${columns} from images where account_id = $1 order by id limit $2 for update`,
);
const insertImage = sql(
  "image.insert",
  `insert into images (id, account_id, filename, mime_type, width, height, size_bytes, sha256, frames, has_alpha,
     is_progressive, title, caption, alt_text, tags, visibility, status, placeholder, focal_x, focal_y, render_job_id,
     render_attempt, revision, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)`,
);
const saveImage = sql(
  "image.save",
  `update images set filename = $2, title = $3, caption = $4, alt_text = $5, tags = $6, visibility = $7, status = $8,
     placeholder = $9, focal_x = $10, focal_y = $11, render_job_id = $12, render_attempt = $13,
     revision = $14, updated_at = $15 where id = $1`,
);
const deleteImage = sql("image.delete", "delete from images where id = $1");
const insertTombstone = sql(
  "tombstone.insert",
  "insert into tombstones (image_id, account_id, sha256, deleted_by, deleted_at) values ($1, $2, $3, $4, $5)",
);

/** Image records in PostgreSQL: prepared statements, and Prisma for lists with their many filters. */
export function createImageStore(pool: Pool, prisma: PrismaClient) {
  const first = async (from: Queryable, ...query: Parameters<Queryable["query"]>): Promise<Image | null> => {
    const { rows } = await from.query<Row>(...query);
    return rows[0] ? imageFrom(rows[0]) : null;
  };

  return {
    /** Whoever asks: callers judge whether it may be seen. */
    find: (imageId: string) => first(pool, findImage, [imageId]),

    async findOwn(accountId: string, imageId: string): Promise<Image | null> {
      const image = await first(pool, findImage, [imageId]);
      return image?.accountId === accountId ? image : null;
    },

    async findOwnMany(accountId: string, imageIds: readonly string[]): Promise<Image[]> {
      const rows = await prisma.image.findMany({ where: { accountId, id: { in: [...imageIds] } } });
      return rows.map(imageFrom);
    },

    /** Newest first. */
    async list(
      accountId: string,
      options: { filter: ImageFilter; after: ImagePosition | null; limit: number },
    ): Promise<Image[]> {
      const rows = await prisma.image.findMany({
        where: { accountId, AND: [conditionOf(options.filter), laterThan(options.after)] },
        orderBy: [{ createdAt: "desc" }, { id: "desc" }],
        take: options.limit,
      });
      return rows.map(imageFrom);
    },

    /** Reads the image and keeps others from changing it until the transaction ends. */
    lock: (tx: Tx, imageId: string) => first(tx, lockImage, [imageId]),

    async lockSomeOf(tx: Tx, accountId: string, limit: number): Promise<Image[]> {
      const { rows } = await tx.query<Row>(lockSome, [accountId, limit]);
      return rows.map(imageFrom);
    },

    async insert(tx: Tx, image: Image): Promise<void> {
      const { id, accountId, filename, mimeType, width, height, sizeBytes, sha256, frames } = image;
      const { hasAlpha, isProgressive, title, caption, altText, tags, visibility, status } = image;
      const { placeholder, focalPoint, renderJobId, renderAttempt, revision, createdAt, updatedAt } = image;
      await tx.query(insertImage, [
        ...[id, accountId, filename, mimeType, width, height, sizeBytes, sha256, frames, hasAlpha, isProgressive],
        ...[title, caption, altText, tags, visibility, status, placeholder, focalPoint?.x ?? null],
        ...[focalPoint?.y ?? null, renderJobId, renderAttempt, revision, createdAt, updatedAt],
      ]);
    },

    /** Writes what may change of a locked image. */
    async save(tx: Tx, image: Image): Promise<void> {
      const { id, filename, title, caption, altText, tags, visibility, status, placeholder, focalPoint } = image;
      const { renderJobId, renderAttempt, revision, updatedAt } = image;
      await tx.query(saveImage, [
        ...[id, filename, title, caption, altText, tags, visibility, status, placeholder],
        ...[focalPoint?.x ?? null, focalPoint?.y ?? null, renderJobId, renderAttempt, revision, updatedAt],
      ]);
    },

    /** Removes a locked record and leaves its tombstone. */
    async delete(tx: Tx, image: Image, by: { deletedBy: string | null; deletedAt: Date }): Promise<void> {
      await tx.query(deleteImage, [image.id]);
      await tx.query(insertTombstone, [image.id, image.accountId, image.sha256, by.deletedBy, by.deletedAt]);
    },
  };
}

export type ImageStore = ReturnType<typeof createImageStore>;

function conditionOf({ tag, visibility, mimeType, createdAfter, createdBefore }: ImageFilter): Prisma.ImageWhereInput {
  return {
    ...(tag !== undefined && { tags: { has: tag } }),
    ...(visibility !== undefined && { visibility }),
    ...(mimeType !== undefined && { mimeType }),
    createdAt: { ...(createdAfter && { gt: createdAfter }), ...(createdBefore && { lt: createdBefore }) },
  };
}

function laterThan(after: ImagePosition | null): Prisma.ImageWhereInput {
  if (!after) return {};
  return { OR: [{ createdAt: { lt: after.createdAt } }, { createdAt: after.createdAt, id: { lt: after.id } }] };
}

function imageFrom({ focalX, focalY, ...row }: Row): Image {
  return {
    ...row,
    visibility: row.visibility as ImageResource["visibility"],
    status: row.status as ImageResource["status"],
    focalPoint: focalX === null || focalY === null ? null : { x: focalX, y: focalY },
  };
}
