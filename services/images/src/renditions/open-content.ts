import type { ImageLimits, ImagePool } from "@signalbox/imaging";
import type { ServiceContext } from "@signalbox/runtime";
import type { OpenedService } from "@signalbox/service";
import type { ObjectFiles, ObjectStore } from "@signalbox/storage";
import type { RenditionStore } from "../blobs/rendition-store.ts";
import type { ImageStore } from "../images/image-store.ts";
import type { Properties } from "../properties.ts";
import type { SignedUrls } from "../signing/signed-urls.ts";
import type { ServedCounter } from "../statistics/served-counter.ts";
import { createContentAccess } from "./content-access.ts";
import { createContentCache } from "./content-cache.ts";
import { RenderBudget } from "./render-budget.ts";
import type { TermsOf } from "./render-terms.ts";
import { Renderer } from "./renderer.ts";
import { RenditionMaker } from "./rendition-maker.ts";
import { createRenditions } from "./renditions.ts";
import { createStoredRenditions } from "./stored-renditions.ts";

interface Dependencies {
  readonly files: { readonly objects: ObjectStore; readonly objectFiles: ObjectFiles };
  readonly imageStore: ImageStore;
  readonly renditionStore: RenditionStore;
  readonly imagePool: ImagePool;
  readonly imageLimits: () => ImageLimits;
  readonly signedUrls: SignedUrls;
  readonly termsOf: TermsOf;
  readonly statistics: Pick<ServedCounter, "counted">;
}

/** Builds the content of images: who sees it, in which rendition, and from where its bytes come. */
export function openContent(
  { configuration, clock, log, tracer }: ServiceContext<Properties>,
  { pool, outbox, cache, accessStates }: OpenedService,
  { files, imageStore, renditionStore, imagePool, imageLimits, signedUrls, termsOf, statistics }: Dependencies,
) {
  const { objects, objectFiles } = files;
  const contentAccess = createContentAccess({
    imageStore,
    signedUrls,
    publicTransforms: () => configuration.get("images.public.transforms"),
    isDeleted: (accountId) => accessStates.stateOf(accountId)?.state === "deleted",
  });
  const isAvifOffered = () => configuration.get("capabilities.imageAvif");
  const avifPixelsMax = () => configuration.get("images.render.avif-pixels");
  const renditions = createRenditions({ pool, renditionStore, outbox, clock, isAvifOffered, avifPixelsMax });
  const storedRenditions = createStoredRenditions({
    pool,
    objects,
    objectFiles,
    renditionStore,
    cache,
    clock,
    log,
    memoryBytesMax: configuration.get("images.render.memory"),
  });
  const waitMaxMs = () => configuration.get("images.render.wait-max");
  const renditionMaker = new RenditionMaker({
    objectFiles,
    renditionStore,
    imagePool,
    clock,
    tracer,
    imageLimits,
    waitMaxMs,
  });
  const renderBudget = new RenderBudget({ clock, budgetMs: () => configuration.get("images.public.render-budget") });
  const renderer = new Renderer({ storedRenditions, renditionMaker, renderBudget, cache, clock, log });
  const knownContent = createContentCache({
    imageStore,
    contentAccess,
    signedUrls,
    storedRenditions,
    statistics,
    cacheSeconds: (visibility) => configuration.get(`images.cache.${visibility}`),
  });
  return {
    contentAccess,
    renditions,
    renderer,
    renderBudget,
    termsOf,
    knownContent,
    originals: { imageStore, objects },
    statistics,
  };
}
