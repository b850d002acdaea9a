import type { Caller } from "@signalbox/auth";
import { ImageResource, imageExample, imageStatuses, imageVisibilities } from "@signalbox/contracts";
import {
  createRoutes,
  listPage,
  noContent,
  ok,
  pageOf,
  pageParameters,
  type Routes,
  refused,
  timeParameter,
} from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { Image } from "./image.ts";
import { type ImageChanges, ImagePatch, ImageReplacement } from "./image-fields.ts";
import type { ImageFilter, ImageStore } from "./image-store.ts";
import { etagOfImage, type ViewImage } from "./image-view.ts";
import type { Images } from "./images.ts";

interface Dependencies {
  readonly images: Images;
  readonly imageStore: ImageStore;
  readonly view: ViewImage;
  readonly pageLimits: Parameters<typeof pageParameters>[0];
  readonly acceptedTypes: () => readonly string[];
}

/** The routes of image records: list, read, update, replace, delete. */
export function imageRoutes(dependencies: Dependencies) {
  const routes = createRoutes({ errors: "image", exampleIds: { image_id: imageExample.id } });
  declareReads(routes, dependencies);
  declareWrites(routes, dependencies);
  declareDelete(routes, dependencies);
  return routes;
}

function declareReads(routes: Routes, dependencies: Dependencies): void {
  const { imageStore, view } = dependencies;
  const auth = { scopes: ["images:read"] } as const;

  routes.get("/images", {
    operationId: "images",
    summary: "List images, newest first",
    auth,
    query: listQuery(dependencies),
    responses: { 200: pageOf(ImageResource) },
    handle: ({ principal, query }) =>
      listPage(query, (range) => imageStore.list(principal.accountId, range, imageFilterOf(query)), view),
  });

  routes.get("/images/:image_id", {
    operationId: "image",
    summary: "Read an image record",
    auth,
    responses: { 200: ImageResource, 404: "error" },
    async handle({ principal, params }) {
      const image = await imageStore.findOwn(principal.accountId, params.image_id);
      return image ? ok(view(image), { etag: etagOfImage(image) }) : refused(404, "not_found");
    },
  });
}

const auth = { scopes: ["images:write"] } as const;

/** Finds the image of a write among the caller's own. */
const ownImage =
  (imageStore: ImageStore) =>
  (tx: Tx, { caller, params }: { caller: Caller; params: { readonly image_id: string } }) =>
    imageStore.lockOwn(tx, caller.accountId, params.image_id);

function declareWrites(routes: Routes, { images, imageStore, view }: Dependencies): void {
  const responses = { 200: ImageResource, 204: "empty", 404: "error", 409: "error" } as const;
  const update = {
    find: ownImage(imageStore),
    etag: etagOfImage,
    change: (tx: Tx, image: Image, { caller, body }: { caller: Caller; body: ImageChanges }) =>
      images.update(tx, caller, image, body),
    answer: (image: Image) => ok(view(image), { etag: etagOfImage(image) }),
  };

  routes.patch("/images/:image_id", {
    operationId: "updateImage",
    summary: "Change an image record",
    description: "A merge patch: absent members stay, null clears. The bytes never change.",
    auth,
    audit: "image.update",
    body: { json: ImagePatch, mergePatch: true },
    responses,
    idempotent: true,
    write: update,
  });

  routes.put("/images/:image_id", {
    operationId: "replaceImage",
    summary: "Replace an image's description",
    description: "Absent texts become null and absent tags none; `visibility` and `focal_point` stay when absent.",
    auth,
    audit: "image.update",
    body: ImageReplacement,
    responses,
    write: update,
  });

  routes.post("/images/:image_id/reprocess", {
    operationId: "reprocessImage",
    summary: "Make the named variants again",
    description: "A failed image starts again. Another one keeps its status, and only missing variants are made.",
    auth,
    audit: "image.reprocess",
    responses: { 200: ImageResource, 404: "error", 409: "error" },
    idempotent: true,
    write: {
      ...update,
      change: (tx, image, { caller }) => images.reprocess(tx, caller, image),
    },
  });
}

function declareDelete(routes: Routes, { images, imageStore }: Dependencies): void {
  routes.delete("/images/:image_id", {
    operationId: "deleteImage",
    summary: "Delete an image",
    description: "The record is removed immediately; copies of public content live until their cache lifetime ends.",
    auth,
    audit: "image.delete",
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    write: {
      find: ownImage(imageStore),
      etag: etagOfImage,
      change: (tx, image, { caller }) => images.delete(tx, caller, image),
      answer: () => noContent(),
    },
  });
}

const listQuery = ({ pageLimits, acceptedTypes }: Pick<Dependencies, "pageLimits" | "acceptedTypes">) =>
  z.object({ ...pageParameters(pageLimits), ...imageFilter(acceptedTypes) });

/** The filters of a list of images, in REST and GraphQL. */
export function imageFilter(acceptedTypes: () => readonly string[]) {
  return {
    tag: z.string().min(1).max(64).optional().describe("Images that have this tag."),
    visibility: z.enum(imageVisibilities).optional(),
    mime_type: z
      .string()
      .refine((type) => acceptedTypes().includes(type), { message: "Must be a type that images can have." })
      .optional(),
    status: z.enum(imageStatuses).optional(),
    created_after: timeParameter().optional().describe("RFC 3339; later than this."),
    created_before: timeParameter().optional().describe("RFC 3339; earlier than this."),
  };
}

export function imageFilterOf(query: z.output<z.ZodObject<ReturnType<typeof imageFilter>>>): ImageFilter {
  const {
    tag,
    visibility,
    status,
    mime_type: mimeType,
    created_after: createdAfter,
    created_before: createdBefore,
  } = query;
  return { tag, visibility, status, mimeType, createdAfter, createdBefore };
}
