import type { Principal } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import {
  connectionField,
  createLoader,
  field,
  type Load,
  mutation,
  type PageLimits,
  type Resolvers,
} from "@signalbox/graphql";
import { z } from "zod";
import { SignedUrlBody, splitSignedUrlBody } from "../signing/signed-url-body.ts";
import type { SignedUrl, SignedUrls } from "../signing/signed-urls.ts";
import type { Image } from "./image.ts";
import { ImagePatch } from "./image-fields.ts";
import type { ImageStore } from "./image-store.ts";
import type { ViewImage } from "./image-view.ts";
import type { Images } from "./images.ts";

interface Dependencies {
  readonly images: Images;
  readonly imageStore: ImageStore;
  readonly signedUrls: SignedUrls;
  readonly maySign: () => boolean;
  readonly view: ViewImage;
  readonly pageLimits: PageLimits;
}

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

/** The fields of images, and who may use them. */
export function resolversOf({
  images,
  imageStore,
  signedUrls,
  maySign,
  view,
  pageLimits,
}: Dependencies): Resolvers<Loaders> {
  return {
    Account: {
      images: connectionField(
        { ...readers, ownOnly: true },
        { limits: pageLimits, read: (range, account: Named) => imageStore.list(account.id, range) },
      ),
    },
    Image: {
      __resolveReference: field(readers, ({ id }: Named, _args, { loaders }) => loaders.image(id)),
      url: (image: Image) => view(image).url,
      animated: (image: Image) => image.frames > 1,
      variants: (image: Image) => Object.entries(view(image).variants).map(([name, url]) => ({ name, url })),
    },
    Mutation: {
      updateImage: mutation(
        { ...writers, audit: "image.update", input: ImagePatch, payload: "image" },
        (changes, context, { id }: Named) =>
          context.write({
            find: (tx) => imageStore.lockOwn(tx, context.caller.accountId, id),
            change: (tx, image) => images.update(tx, context.caller, image, changes),
            missing,
          }),
      ),
      createSignedImageUrl: mutation(
        { ...writers, audit: null, input: SignedUrlBody, payload: (signed: SignedUrl | null) => signed ?? noUrl },
        async (input, { caller }, { id }: Named) => {
          if (!maySign()) throw new AppError("forbidden", "Signed URLs are switched off.");
          const image = await imageStore.findOwn(caller.accountId, id);
          if (!image) throw new AppError("not_found", missing);
          const { parameters, livesSeconds } = splitSignedUrlBody(input);
          return signedUrls.create(image, parameters, livesSeconds);
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
    },
  };
}

/** The loaders of one request: a list of a hundred images is one statement. */
export function createLoaders(imageStore: ImageStore, principal: Principal | null): Loaders {
  const findOwnMany = async (ids: readonly string[]) =>
    principal ? imageStore.findOwnMany(principal.accountId, ids) : [];
  return { image: createLoader(findOwnMany, ({ id }) => id) };
}
