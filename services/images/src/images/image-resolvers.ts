import type { Principal } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import {
  connectionField,
  createLoader,
  field,
  filterFrom,
  type Load,
  mutation,
  type PageLimits,
  type Resolvers,
} from "@signalbox/graphql";
import { z } from "zod";
import { directUploadMutations } from "../direct-uploads/direct-upload-resolvers.ts";
import { SignedUrlBody, splitSignedUrlBody } from "../signing/signed-url-body.ts";
import type { SignedUrl, SignedUrls } from "../signing/signed-urls.ts";
import { ImportBody, type Imports } from "../uploads/imports.ts";
import type { Image } from "./image.ts";
import { ImagePatch } from "./image-fields.ts";
import { imageFilter, imageFilterOf } from "./image-routes.ts";
import type { ImageStore } from "./image-store.ts";
import { failureOf, type ViewImage } from "./image-view.ts";
import type { Images } from "./images.ts";

type Dependencies = Parameters<typeof directUploadMutations>[0] & {
  readonly images: Images;
  readonly imageStore: ImageStore;
  readonly imports: Imports;
  readonly signedUrls: SignedUrls;
  readonly maySign: () => boolean;
  readonly view: ViewImage;
  readonly pageLimits: PageLimits;
  /** The media types accepted at the moment. */
  readonly acceptedTypes: () => readonly string[];
};

interface Loaders {
  readonly image: Load<Image>;
}

interface Named {
  readonly id: string;
}

const readers = { scopes: ["images:read"] } as const;
const writers = { scopes: ["images:write"] } as const;
const noUrl = { url: null, expiresAt: null };
const missing = "There is no such image.";

/** The GraphQL fields of images, with their scopes. */
export function resolversOf(dependencies: Dependencies): Resolvers<Loaders> {
  const { imageStore, view, pageLimits, acceptedTypes } = dependencies;
  const Filter = z.strictObject(imageFilter(acceptedTypes));
  return {
    Account: {
      images: connectionField(
        { ...readers, ownOnly: true },
        {
          limits: pageLimits,
          read: (range, account: Named, _context, args: object) =>
            imageStore.list(account.id, range, imageFilterOf(filterFrom(Filter, args))),
        },
      ),
    },
    Image: {
      __resolveReference: field(readers, ({ id }: Named, _args, { loaders }) => loaders.image(id)),
      url: (image: Image) => view(image).url,
      failure: (image: Image) => failureOf(image),
      animated: (image: Image) => image.frames > 1,
      variants: (image: Image) => Object.entries(view(image).variants).map(([name, url]) => ({ name, url })),
    },
    Mutation: { ...mutationsOf(dependencies), ...directUploadMutations(dependencies) },
  };
}

function mutationsOf({ images, imports, imageStore, signedUrls, maySign }: Dependencies) {
  return {
    updateImage: mutation(
      { ...writers, audit: "image.update", input: ImagePatch, payload: "image" },
      (changes, context, { id }: Named) =>
        context.write({
          find: (tx) => imageStore.lockOwn(tx, context.caller.accountId, id),
          change: (tx, image) => images.update(tx, context.caller, image, changes),
          missing,
        }),
    ),
    importImage: mutation(
      { ...writers, audit: "image.create", input: ImportBody, payload: "image" },
      (input, context) => imports.importFor(context, input),
    ),
    reprocessImage: mutation(
      { ...writers, audit: "image.reprocess", input: z.strictObject({}), payload: "image" },
      (_input, context, { id }: Named) =>
        context.write({
          find: (tx) => imageStore.lockOwn(tx, context.caller.accountId, id),
          change: (tx, image) => images.reprocess(tx, context.caller, image),
          missing,
        }),
    ),
    createSignedImageUrl: mutation(
      {
        ...{ ...writers, audit: "image.sign_url", input: SignedUrlBody },
        payload: (signed: SignedUrl | null) => signed ?? noUrl,
      },
      async (input, { caller }, { id }: Named) => {
        if (!maySign()) throw new AppError("forbidden", "Signed URLs are switched off.");
        const image = await imageStore.findOwn(caller.accountId, id);
        if (!image) throw new AppError("not_found", missing);
        const { parameters, livesSeconds } = splitSignedUrlBody(input);
        return signedUrls.create(caller, image, parameters, livesSeconds);
      },
    ),
    deleteImage: mutation(
      { ...writers, audit: "image.delete", input: z.strictObject({}), payload: "deletedImageId" },
      async (_input, context, { id }: Named) => {
        await context.write({
          find: (tx) => imageStore.lockOwn(tx, context.caller.accountId, id),
          change: (tx, image) => images.delete(tx, context.caller, image),
          missing,
        });
        return id;
      },
    ),
  };
}

/** Creates the loaders of one request: a list of a hundred images is one statement. */
export function createLoaders(imageStore: ImageStore, principal: Principal | null): Loaders {
  const findOwnMany = async (ids: readonly string[]) =>
    principal ? imageStore.findOwnMany(principal.accountId, ids) : [];
  return { image: createLoader(findOwnMany, ({ id }) => id) };
}
