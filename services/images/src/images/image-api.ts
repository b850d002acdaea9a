import type { Caller } from "@signalbox/auth";
import { examples, ImageResource, imageExample } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { type HttpResponse, ok, textParameter, timeParameter } from "@signalbox/http";
import { type Edges, edgesOf, list, type OwnRow, operation, ownRows, record } from "@signalbox/service";
import { z } from "zod";
import type { ImagesService } from "../context/images-service.ts";
import { openSigner, type SignUrl } from "../signing/signed-urls.ts";
import { signedSeconds } from "../signing/signing-api.ts";
import { etagOfImage, failureOf, type Image, viewImage } from "../state/image.ts";
import { ImagePatch, ImageReplacement } from "../state/image-fields.ts";
import { type ImageFilter, imageSorts, type ListedImage, positionOfImage } from "../state/image-list.ts";
import { deleteImage, deleteImages, reprocessImage, updateImage } from "./images.ts";

const base = "/images";
const one = `${base}/:image_id` as const;
const read = { scopes: ["images:read"] } as const;
const write = { scopes: ["images:write"] } as const;
const missing = "There is no such image.";
/** The name of the path parameter in the graph. */
const names = { image_id: "id" } as const;

/** The records of images, at both edges. */
export function imageApi(service: ImagesService): Edges {
  const view = viewFrom(service);
  return edgesOf(Object.assign(reads(service), writes(service), removals(service)), {
    errors: "image",
    exampleIds: { image_id: imageExample.id },
    fields: {
      Image: {
        url: (image: Image) => view(image).url,
        failure: (image: Image) => failureOf(image),
        animated: (image: Image) => image.frames > 1,
        variants: (image: Image) => namedUrls(view(image).variants),
        transformations: (image: Image) => namedUrls(view(image).transformations),
      },
    },
  });
}

const namedUrls = (urls: Readonly<Record<string, string>> = {}) =>
  Object.entries(urls).map(([name, url]) => ({ name, url }));

/** An image whose variants may be signed. */
type ShownImage = Image & { readonly signUrl?: SignUrl };

function viewFrom({ configuration }: ImagesService): (image: ShownImage) => ImageResource {
  const baseUrl = configuration.get("http.base-url");
  return (image) => viewImage(image, baseUrl, image.signUrl);
}

function reads(service: ImagesService) {
  const { imageStore, pageLimits } = service;
  const view = viewFrom(service);
  return {
    images: list({
      summary: "List images, newest first or in another order",
      description: "Filters narrow the list by text, tag, visibility, media type, state and time of creation.",
      auth: read,
      limits: pageLimits,
      filter: imageFilter(service),
      read: async (range, { caller, filter: { sign, ...filter } }) => {
        const found = await imageStore.list(caller.accountId, range, imageFilterOf(filter));
        return sign === undefined ? found : signVariants(service, caller, found, sign);
      },
      position: positionOfImage,
      rest: { get: base, item: ImageResource, view },
    }),
    image: record({
      summary: "Read an image record",
      description: "Description, dimensions, state and URLs of the image. The content has its own route.",
      auth: read,
      find: ({ caller, params }) => imageStore.findOwn(caller.accountId, params.image_id),
      missing,
      rest: { get: one, resource: ImageResource, answer: (image) => ok(view(image), { etag: etagOfImage(image) }) },
      graph: { type: "Image", load: ownRows(({ accountId }, ids) => imageStore.findOwnMany(accountId, ids)) },
    }),
  };
}

/** Has the variants of listed images signed. @throws AppError `forbidden` without the scope or where it is switched off */
async function signVariants(service: ImagesService, caller: Caller, found: ListedImage[], livesSeconds: number) {
  if (!caller.scopes.has("images:write")) throw new AppError("forbidden", "Signing needs the scope images:write.");
  const ids = found.map(({ id }) => id);
  const signer = await openSigner(service, caller, ids, livesSeconds);
  if (!signer) throw new AppError("forbidden", "Signed URLs are switched off.");
  return found.map((image) => ({ ...image, signUrl: signer.signUrl }));
}

const ownImage = ({ imageStore }: ImagesService): OwnRow<Image, { readonly image_id: string }> => ({
  find: (tx, { caller, params }) => imageStore.lockOwn(tx, caller.accountId, params.image_id),
  etag: etagOfImage,
  missing,
});

function writes(service: ImagesService) {
  const of = ownImage(service);
  const view = viewFrom(service);
  const answer = (image: Image): HttpResponse => ok(view(image), { etag: etagOfImage(image) });
  const responses = { 200: ImageResource };
  return {
    updateImage: operation({
      summary: "Change an image record",
      description: "A merge patch: absent members stay, null clears. The bytes never change.",
      auth: write,
      audit: "image.update",
      input: ImagePatch,
      of,
      change: (tx, image, { caller, input }) => updateImage(service, tx, caller, image, input),
      rest: { patch: one, mergePatch: true, responses, idempotent: true, answer },
      graph: { payload: "image", names },
    }),
    // The graph has no replacement: `updateImage` names what it changes.
    replaceImage: operation({
      summary: "Replace an image's description",
      description:
        "Absent texts become null and absent tags empty; `visibility` and `focal_point` are unchanged when absent.",
      auth: write,
      audit: "image.update",
      input: ImageReplacement,
      of,
      change: (tx, image, { caller, input }) => updateImage(service, tx, caller, image, input),
      rest: { put: one, responses, answer },
    }),
    reprocessImage: operation({
      summary: "Render the named variants again",
      description:
        "A failed image is processed again. Any other image keeps its status, and only missing variants are rendered.",
      auth: write,
      audit: "image.reprocess",
      of,
      change: (tx, image, { caller }) => reprocessImage(service, tx, caller, image),
      rest: {
        post: `${one}/reprocess`,
        responses,
        idempotent: true,
        answer,
      },
      graph: { payload: "image", names },
    }),
  };
}

function removals(service: ImagesService) {
  return {
    deleteImages: operation({
      summary: "Delete up to 100 images",
      description:
        "Returns the outcome for each image: `deleted`, or `missing` if the account does not have it. All are deleted in one transaction.",
      auth: write,
      audit: "image.delete",
      input: DeleteImagesBody,
      create: async (tx, { caller, input }) => ({ outcomes: await deleteImages(service, tx, caller, input.ids) }),
      rest: {
        post: `${base}/delete`,
        responses: { 200: DeletedImages },
        idempotent: true,
        answer: ({ outcomes }) => ok({ items: outcomes }),
      },
      graph: { payload: { outcomes: ({ outcomes }) => outcomes }, type: "DeleteImagesPayload" },
    }),
    deleteImage: operation({
      summary: "Delete an image",
      description: "The record is removed immediately; copies of public content live until their cache lifetime ends.",
      auth: write,
      audit: "image.delete",
      of: ownImage(service),
      change: (tx, image, { caller }) => deleteImage(service, tx, caller, image),
      rest: { delete: one, responses: { 204: "empty" }, idempotent: true },
      graph: {
        payload: { deletedImageId: (_, { params }) => params.image_id },
        type: "DeleteImagePayload",
        names,
      },
    }),
  };
}

const deletedTogetherMax = 100;

const DeleteImagesBody = z
  .strictObject({
    ids: z
      .array(z.string().min(1).max(64))
      .min(1)
      .max(deletedTogetherMax)
      .superRefine((ids, { addIssue }) => {
        for (const [index, id] of ids.entries())
          if (ids.indexOf(id) < index) addIssue({ code: "custom", path: [index], message: "Duplicate id." });
      })
      .describe("The ids of the images, at most 100, each once."),
  })
  .meta({ id: "DeleteImages" })
  .register(examples, { example: { ids: [imageExample.id] } });

const DeletedImages = z
  .object({
    items: z
      .array(
        z.object({
          id: z.string().describe("The id as sent."),
          outcome: z
            .enum(["deleted", "missing"])
            .describe("`missing` for an image that the account does not have or no longer has."),
        }),
      )
      .describe("The outcomes in the order of the request."),
  })
  .meta({ id: "DeletedImages" })
  .register(examples, { example: { items: [{ id: imageExample.id, outcome: "deleted" }] } });

/** The filters of a list of images, in REST and GraphQL. */
const imageFilter = ({ configuration }: ImagesService) => ({
  text: textParameter().optional().describe("Part of the title, the file name or a tag; case is ignored."),
  tag: z.string().min(1).max(64).optional().describe("Images that have this tag."),
  visibility: ImageResource.shape.visibility.optional().describe("Only images with this visibility."),
  mime_type: z
    .string()
    .refine((type) => configuration.get("supported.imageTypes").includes(type), {
      message: "Must be a type that images can have.",
    })
    .optional()
    .describe("Only images whose original has this media type."),
  status: ImageResource.shape.status.optional().describe("Only images in this state."),
  created_after: timeParameter().optional().describe("Only images created after this time (RFC 3339)."),
  created_before: timeParameter().optional().describe("Only images created before this time (RFC 3339)."),
  // In the graph it is a number already.
  sign: z
    .preprocess((given) => (/^\d+$/.test(String(given)) ? Number(given) : given), signedSeconds)
    .optional()
    .describe(
      "Signs the URLs of `variants` for this many seconds, so that anyone with a URL can see the image. Needs images:write.",
    ),
  sort: z
    .enum(imageSorts)
    .optional()
    .describe("The order; a leading minus sign means descending. Default: `-created_at`."),
});

function imageFilterOf(given: Omit<z.output<z.ZodObject<ReturnType<typeof imageFilter>>>, "sign">): ImageFilter {
  const { mime_type: mimeType, created_after: createdAfter, created_before: createdBefore, ...same } = given;
  return { ...same, mimeType, createdAfter, createdBefore };
}
