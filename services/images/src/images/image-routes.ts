import type { Principal } from "@signalbox/auth";
import { ImageResource, imageVisibilities } from "@signalbox/contracts";
import {
  createRoutes,
  ifMatch,
  noContent,
  ok,
  pageFrom,
  pageOf,
  pageParameters,
  type RouteInput,
  refused,
  strongEtag,
  timeParameter,
} from "@signalbox/http";
import { z } from "zod";
import type { Verbs } from "../service.ts";
import type { Image } from "./image.ts";
import { cursorOfImage, positionFrom } from "./image-cursor.ts";
import { type ImageChanges, ImagePatch, ImageReplacement } from "./image-fields.ts";

/** The validator of the record's view. */
export const etagOfImage = (image: Image): string => strongEtag(image.revision, `image ${image.id}`);

const responses = { 200: ImageResource, 204: "empty", 404: "error", 409: "error" } as const;

/** The records: list, read, describe, remove. */
export function imageRoutes({ images, updateImage, deleteImage, view, pageLimits, acceptedTypes }: Verbs) {
  const routes = createRoutes({ errors: "image" });
  const show = (image: Image) => ok(view(image), { etag: etagOfImage(image) });

  routes.get("/images", {
    summary: "List images, newest first",
    auth: { scopes: ["images:read"] },
    query: z.object({
      ...pageParameters(pageLimits),
      tag: z.string().min(1).max(64).optional().describe("Images that have this tag."),
      visibility: z.enum(imageVisibilities).optional(),
      mime_type: z
        .string()
        .refine((type) => acceptedTypes().includes(type), { message: "Must be a type that images can have." })
        .optional(),
      created_after: timeParameter().optional().describe("RFC 3339; later than this."),
      created_before: timeParameter().optional().describe("RFC 3339; earlier than this."),
    }),
    responses: { 200: pageOf(ImageResource) },
    async handle({ principal, query }) {
      const rows = await images.list(principal.accountId, {
        filter: {
          tag: query.tag,
          visibility: query.visibility,
          mimeType: query.mime_type,
          createdAfter: query.created_after,
          createdBefore: query.created_before,
        },
        after: query.cursor === undefined ? null : positionFrom(query.cursor),
        limit: query.limit + 1,
      });
      return ok(pageFrom(rows, query.limit, view, cursorOfImage));
    },
  });

  routes.get("/images/:image_id", {
    summary: "Read an image record",
    auth: { scopes: ["images:read"] },
    responses: { 200: ImageResource, 404: "error" },
    async handle({ principal, params }) {
      const image = await images.findOwn(principal.accountId, params.image_id);
      return image ? show(image) : refused(404, "not_found");
    },
  });

  routes.patch("/images/:image_id", {
    summary: "Change an image record",
    description: "A merge patch: absent members stay, null clears. The bytes never change.",
    auth: { scopes: ["images:write"] },
    body: { json: ImagePatch, mergePatch: true },
    responses,
    idempotent: true,
    handle: (input) => write(input, input.body),
  });

  routes.put("/images/:image_id", {
    summary: "Replace an image's description",
    description: "Absent texts become null and absent tags none; `visibility` and `focal_point` stay when absent.",
    auth: { scopes: ["images:write"] },
    body: ImageReplacement,
    responses,
    handle: (input) => write(input, input.body),
  });

  routes.delete("/images/:image_id", {
    summary: "Delete an image",
    description: "The record is gone at once; copies of public content live until their cache lifetime ends.",
    auth: { scopes: ["images:write"] },
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    async handle(input) {
      const { principal, params, idempotency } = input;
      const isDeleted = await deleteImage({
        accountId: principal.accountId,
        imageId: params.image_id,
        deletedBy: `${principal.accountId} ${principal.credential.id}`,
        expect: (image) => ifMatch(input, etagOfImage(image)),
        alongside: (tx) => idempotency.complete(tx, noContent()),
      });
      return isDeleted ? noContent() : refused(404, "not_found");
    },
  });

  return routes;

  async function write(input: RouteInput<Principal, { readonly image_id: string }>, changes: ImageChanges) {
    const image = await updateImage({
      accountId: input.principal.accountId,
      imageId: input.params.image_id,
      changes,
      expect: (current) => ifMatch(input, etagOfImage(current)),
      alongside: (tx, changed) => input.idempotency.complete(tx, show(changed)),
    });
    return image ? show(image) : refused(404, "not_found");
  }
}
