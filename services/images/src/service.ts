import { fileURLToPath } from "node:url";
import type { Cache } from "@signalbox/cache";
import { createConsumer, type Outbox } from "@signalbox/events";
import { createHttpApp, createIdempotencyStore, createInternalApp } from "@signalbox/http";
import { assertUntrustedLoadersBlocked, createJobSlots, type ImageLimits } from "@signalbox/imaging";
import { createOutboundClient } from "@signalbox/net";
import { ownPorts, type ServiceContext, type ServiceParts } from "@signalbox/runtime";
import {
  followConfiguration,
  openAccess,
  openDatabase,
  openEdgeLimits,
  openOutbox,
  openServiceLog,
} from "@signalbox/service";
import { type ObjectStore, openObjectStore, type Pool, prismaAdapter } from "@signalbox/storage";
import { createBlobStore } from "./blobs/blob-store.ts";
import { createSweepBlobs } from "./blobs/sweep-blobs.ts";
import { createConsumerTable } from "./consumers.ts";
import { exportedImages } from "./export/exported-images.ts";
import { PrismaClient } from "./generated/prisma/client.ts";
import { createImagesSubgraph } from "./graphql/subgraph.ts";
import { createCreateImage } from "./images/create-image.ts";
import { createDeleteImage, createDeleteImagesOfAccount } from "./images/delete-image.ts";
import { type Image, viewImage } from "./images/image.ts";
import { createImageEvents } from "./images/image-events.ts";
import { createImageStore } from "./images/image-store.ts";
import { createUpdateImage } from "./images/update-image.ts";
import type { Properties } from "./properties.ts";
import { createChooseRendition } from "./renditions/choose-rendition.ts";
import { createObtainRendition } from "./renditions/obtain-rendition.ts";
import { createRenditionMemory } from "./renditions/rendition-memory.ts";
import { createRenditionStore } from "./renditions/rendition-store.ts";
import { createRequestRendition } from "./renditions/request-rendition.ts";
import { createSettleRendering } from "./renditions/settle-rendering.ts";
import { publicRoutes } from "./routes.ts";
import { createFetchFile } from "./uploads/import-image.ts";
import { openStagingArea } from "./uploads/staging-area.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

type Context = ServiceContext<Properties>;

/** What the routes, resolvers and consumers may call. */
export type Verbs = Awaited<ReturnType<typeof openVerbs>>;

/** Keeps images: takes them in, describes them, shows them in every size and format, and lets them go. */
export async function createService(context: Context): Promise<ServiceParts> {
  const { configuration, service, runner, log, tracer, metrics, clock } = context;
  await assertUntrustedLoadersBlocked();
  const pool = await openDatabase(context, prismaDirectory);
  const eventLog = await openServiceLog(context);
  await followConfiguration(context, eventLog);
  const { outbox, deadLetters } = openOutbox(context, pool, eventLog);
  const access = await openAccess(context, eventLog);
  const { rateLimits, cache } = await openEdgeLimits(context);
  const objects = await openBlobs(context);
  const isGone = (accountId: string) => access.accessStates.stateOf(accountId)?.state === "deleted";
  const verbs = await openVerbs(context, { pool, outbox, cache, objects, isGone });

  const consumer = { service: "images", eventLog, pool, deadLetters, log, tracer, metrics, clock } as const;
  createConsumer({ ...consumer, name: "facts", table: createConsumerTable(verbs) }).start(runner);
  const idempotency = createIdempotencyStore({ service, pool, clock });
  runner.worker("idempotency", idempotency.clean);
  startWorkers(runner, verbs);

  const published = { routes: publicRoutes(verbs), openapi: { title: "Signalbox images", version: "1" } };
  return {
    public: createHttpApp({
      context,
      routes: published.routes,
      authenticator: access.authenticator,
      rateLimits,
      idempotency,
      openapi: published.openapi,
    }),
    internal: createInternalApp({
      context,
      tokens: () => configuration.get("internal.token"),
      routes: exportedImages(verbs),
      mounts: { "/graphql": await createImagesSubgraph(verbs, log) },
      published,
    }),
    authorizeManagement: access.authorizeManagement,
  };
}

function openBlobs({ configuration, runner, log }: Context): Promise<ObjectStore> {
  const [accessKey, secretKey] = [configuration.get("blobs.access-key"), configuration.get("blobs.secret-key")];
  return openObjectStore({ url: configuration.get("blobs.url"), accessKey, secretKey, runner, log });
}

interface Opened {
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly cache: Cache;
  readonly objects: ObjectStore;
  readonly isGone: (accountId: string) => boolean;
}

async function openVerbs(context: Context, { pool, outbox, cache, objects, isGone }: Opened) {
  const { configuration, clock, runner, log } = context;
  const baseUrl = configuration.get("http.base-url");
  const images = createImageStore(pool, new PrismaClient({ adapter: prismaAdapter(pool) }));
  const blobs = createBlobStore(pool);
  const renditions = createRenditionStore(pool);
  const memory = createRenditionMemory({ bytesMax: configuration.get("images.render.memory") });
  const events = createImageEvents(baseUrl);
  const slots = createJobSlots({ waitingCostMax: configuration.get("images.render.waiting-cost") });
  const staging = await openStagingArea(configuration.get("images.upload.directory"), runner);
  const outbound = createOutboundClient({
    allow: configuration.get("images.import.allow"),
    refusePorts: ownPorts,
    clock,
  });
  runner.defer("outbound client", () => outbound.close());

  const imageLimits = limitsOf(context);
  const acceptedTypes = () => configuration.get("supported.imageTypes");
  const uploadBytesMax = () => configuration.get("limits.maxUploadBytes");
  const writing = { pool, images, blobs, outbox, events, clock };

  return {
    images,
    objects,
    staging,
    isGone,
    acceptedTypes,
    uploadBytesMax,
    view: (image: Image) => viewImage(image, baseUrl),
    createImage: createCreateImage({ ...writing, objects, slots, imageLimits, acceptedTypes }),
    updateImage: createUpdateImage(writing),
    deleteImage: createDeleteImage(writing),
    deleteImagesOfAccount: createDeleteImagesOfAccount(writing),
    fetchFile: createFetchFile({
      outbound,
      staging,
      bytesMax: uploadBytesMax,
      deadlineMs: () => configuration.get("images.import.deadline"),
    }),
    chooseRendition: createChooseRendition({
      renditions,
      isAvifOffered: () => configuration.get("capabilities.imageAvif"),
      avifPixelsMax: () => configuration.get("images.render.avif-pixels"),
    }),
    obtainRendition: createObtainRendition({ objects, renditions, memory, cache, slots, clock, log, imageLimits }),
    requestRendition: createRequestRendition({ pool, renditions, outbox, clock }),
    settleRendering: createSettleRendering({
      ...writing,
      renditions,
      attemptsMax: () => configuration.get("images.render.attempts"),
    }),
    sweepBlobs: createSweepBlobs({
      pool,
      blobs,
      objects,
      clock,
      graceMs: () => configuration.get("images.sweep.grace"),
    }),
    mayUpload: () => configuration.get("capabilities.imageDirectUpload"),
    mayImport: () => configuration.get("capabilities.imageImport"),
    cacheSeconds: (visibility: Image["visibility"]) => configuration.get(`images.cache.${visibility}`),
    pageLimits: {
      maxPageSize: () => configuration.get("limits.maxPageSize"),
      pageSize: () => configuration.get("defaults.pageSize"),
    },
  };
}

function limitsOf({ configuration }: Context): () => ImageLimits {
  return () => ({
    sideMax: configuration.get("limits.maxImageSide"),
    pixelsMax: configuration.get("limits.maxImagePixels"),
    avifPixelsMax: configuration.get("images.limits.avif-pixels"),
    aspectRatioMax: configuration.get("images.limits.aspect-ratio"),
    framesMax: configuration.get("images.limits.frames"),
    framesPixelsMax: configuration.get("images.limits.frame-pixels"),
  });
}
