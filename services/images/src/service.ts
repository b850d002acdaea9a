import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { ImageResource } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { exportRoutes } from "@signalbox/http";
import { type ImageLimits, type ImagePool, openImagePool } from "@signalbox/imaging";
import { createOutboundClient } from "@signalbox/net";
import { createWakeUp, ownPorts, type ServiceContext, type ServiceParts } from "@signalbox/runtime";
import { imageJobMetrics, type OpenedService, openPrincipals, openService } from "@signalbox/service";
import {
  createSealer,
  keepStatistics,
  openObjectFiles,
  openObjectStore,
  openPrivateDirectory,
  type Sealer,
} from "@signalbox/storage";
import { createBlobStore } from "./blobs/blob-store.ts";
import { createBlobs } from "./blobs/blobs.ts";
import { createRenditionStore } from "./blobs/rendition-store.ts";
import { imageConsumers } from "./consumers.ts";
import { openDirectUploads } from "./direct-uploads/open-direct-uploads.ts";
import { serviceEdges } from "./edges.ts";
import { createDeletionStore } from "./images/deletion-store.ts";
import { createDeletions } from "./images/deletions.ts";
import { createImageEvents, type Image, viewImage } from "./images/image.ts";
import { createImageStore, type ImageStore } from "./images/image-store.ts";
import { createImages } from "./images/images.ts";
import { whyImage } from "./images/why-image.ts";
import type { Properties } from "./properties.ts";
import { publicContentPolicy } from "./renditions/content-routes.ts";
import { openContent } from "./renditions/open-content.ts";
import { createTermsOf } from "./renditions/render-terms.ts";
import { createVariants } from "./renditions/variants.ts";
import { whyRendered } from "./renditions/why-rendered.ts";
import { createSignedUrls } from "./signing/signed-urls.ts";
import { createSigningKeyStore, sealedSigningKeys } from "./signing/signing-key-store.ts";
import { createSigningKeys } from "./signing/signing-keys.ts";
import { createImageStatistics } from "./statistics/image-statistics.ts";
import { createFetchFile } from "./uploads/fetch-file.ts";
import { createOriginals } from "./uploads/originals.ts";
import { openStagingArea, type StagingArea } from "./uploads/staging-area.ts";
import { createUploads } from "./uploads/uploads.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** Well within the minute in which the bytes of a deleted image must be erased. */
const eraseEveryMs = seconds(5);

/** A process that runs the image worker too shares one pool between both. */
type Context = ServiceContext<Properties> & { readonly imagePool?: ImagePool };
type Files = Awaited<ReturnType<typeof openFiles>>;

/** The worker has no listener, and its jobs are ours. */
const workerJobs = {
  service: "image-worker",
  group: "image-worker.jobs",
  topics: ["signalbox.image-render.v1"],
  parks: false,
} as const;

/** Receives, describes, renders and deletes images. */
export async function createService(context: Context): Promise<ServiceParts> {
  const { configuration, runner, clock, tracer } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const rateLimits = () => [publicContentLimit(context)];
  const options = { prismaDirectory, rateLimits, sealer, sealedColumns: [sealedSigningKeys], answersFor: [workerJobs] };
  const opened = await openService(context, options);
  const { pool, consume, serve } = opened;

  const files = await openFiles(context);
  const { staging } = files;
  const lostAfterMs = () => configuration.get("images.render.lost-after");
  const records = createRecords(context, opened, files, lostAfterMs);
  const { blobs, deletions, images, imageStore, renditionStore, variants, view, acceptedTypes, eraseWakeUp } = records;

  const imagePool = context.imagePool ?? (await openOwnPool(context));
  const imageLimits = () => imageLimitsOf(context);
  const termsOf = createTermsOf({ clock, answerMs: () => seconds(configuration.get("limits.requestTimeoutSeconds")) });
  const originals = createOriginals({ blobs, imagePool, termsOf, tracer, imageLimits, acceptedTypes });
  const fetchFile = openFetchFile(context, staging);
  const mayImport = () => configuration.get("capabilities.imageImport");
  const uploads = createUploads({ fetchFile, originals, images, imageStore, mayImport });
  const directUpload = await openDirectUploads(context, opened, { files, images, imageStore, view, originals });

  const { signingKeyStore, signingKeys, signedUrls } = createSigning(context, opened, sealer, imageStore);
  const imageStatistics = createImageStatistics({ pool, clock });
  const content = openContent(context, opened, {
    files,
    imageStore,
    renditionStore,
    imagePool,
    imageLimits,
    signedUrls,
    termsOf,
    statistics: imageStatistics,
  });

  const { directUploads } = directUpload;
  keepStatistics({ runner, pool, clock }, imageStatistics);
  consume("facts", imageConsumers({ images, directUploads, signingKeyStore, variants, imageStatistics }));
  startWorkers(runner, { blobs, deletions, directUpload, variants, imageStatistics, eraseWakeUp, lostAfterMs });
  const served = serve({
    title: "Signalbox images",
    principals: openPrincipals(context),
    edges: serviceEdges({
      upload: { uploads, staging, view },
      directUpload,
      image: records,
      content,
      signing: { signedUrls, signingKeys },
      statistics: { imageStatistics, clock },
    }),
    corsOrigins: configuration.get("images.cors.origins"),
    internalRoutes: [exportRoutes({ item: ImageResource, list: imageStore.list, view })],
    whyFinders: [...whyImage(records), ...whyRendered(pool)],
    typeDefs: await readFile(schemaFile, "utf8"),
  });
  return { ...served, info: () => ({ imaging: imagePool.describe() }) };
}

/** Creates the signed URLs of images, and the keys of accounts that sign them. */
function createSigning(
  { configuration, clock }: Context,
  { pool, outbox }: OpenedService,
  sealer: Sealer,
  imageStore: ImageStore,
) {
  const signingKeyStore = createSigningKeyStore(pool, sealer);
  const signingKeys = createSigningKeys({ pool, signingKeyStore, outbox, clock });
  const baseUrl = configuration.get("http.base-url");
  const maySign = () => configuration.get("capabilities.signedUrls");
  const signedUrls = createSignedUrls({ pool, outbox, signingKeys, imageStore, clock, baseUrl, maySign });
  return { signingKeyStore, signingKeys, signedUrls };
}

/** Opens the stores of originals and of files that wait to be judged. */
async function openFiles({ configuration, runner, log, tracer, metrics }: Context) {
  const objects = await openObjectStore({
    url: configuration.get("blobs.url"),
    accessKey: configuration.get("blobs.access-key"),
    secretKey: configuration.get("blobs.secret-key"),
    startWaitMs: configuration.get("blobs.start-wait"),
    publicOrigin: configuration.get("images.direct-upload.store-origin"),
    runner,
    log,
    tracer,
    metrics,
  });
  const directory = configuration.get("images.upload.directory");
  const cacheMax = configuration.get("images.originals.cache");
  const objectFiles = await openObjectFiles({ objects, directory, cacheMax, runner });
  const bytesMax = () => configuration.get("limits.maxUploadBytes");
  const staging = await openStagingArea({ directory: directory ?? objectFiles.directory, bytesMax, runner, log });
  return { objects, objectFiles, staging };
}

/** Creates the records of images, with their bytes, their named variants and the receipts of deletions. */
function createRecords(
  { configuration, clock }: Context,
  { pool, outbox, pageLimits }: OpenedService,
  { objects, objectFiles }: Files,
  lostAfterMs: () => number,
) {
  const baseUrl = configuration.get("http.base-url");
  const view = (image: Image) => viewImage(image, baseUrl);
  const events = createImageEvents(view);
  const imageStore = createImageStore({ pool, lostAfterMs });
  const blobStore = createBlobStore(pool);
  const renditionStore = createRenditionStore(pool);
  const deletionStore = createDeletionStore(pool);

  const graceMs = () => configuration.get("images.sweep.grace");
  const blobs = createBlobs({ pool, blobStore, renditionStore, objects, objectFiles, clock, graceMs });
  const eraseWakeUp = createWakeUp(eraseEveryMs);
  const deletions = createDeletions({ pool, deletionStore, blobs, outbox, clock, eraseSoon: eraseWakeUp.wake });
  const quota = () => ({
    images: configuration.get("images.quota.images"),
    bytes: configuration.get("images.quota.bytes"),
  });
  const images = createImages({ imageStore, blobStore, renditionStore, deletions, outbox, events, clock, quota });
  const attemptsMax = () => configuration.get("images.render.attempts");
  const variants = createVariants({
    pool,
    imageStore,
    renditionStore,
    deletions,
    outbox,
    events,
    clock,
    attemptsMax,
  });
  const acceptedTypes = () => configuration.get("supported.imageTypes");
  return {
    images,
    imageStore,
    deletionStore,
    view,
    pageLimits,
    acceptedTypes,
    blobs,
    deletions,
    renditionStore,
    variants,
    eraseWakeUp,
  };
}

async function openOwnPool({ configuration, clock, log, runner, metrics }: Context): Promise<ImagePool> {
  return openImagePool({
    directory: await openPrivateDirectory(tmpdir(), "signalbox-imaging", runner),
    memoryMax: configuration.get("images.render.memory-max"),
    clock,
    log,
    runner,
    onJob: imageJobMetrics(metrics),
  });
}

const publicContentLimit = ({ configuration }: Context) => ({
  name: publicContentPolicy,
  limit: configuration.get("images.public.requests"),
  windowMs: configuration.get("images.public.window"),
});

const imageLimitsOf = ({ configuration }: Context): ImageLimits => ({
  sideMax: configuration.get("limits.maxImageSide"),
  pixelsMax: configuration.get("limits.maxImagePixels"),
  avifPixelsMax: configuration.get("images.limits.avif-pixels"),
  aspectRatioMax: configuration.get("images.limits.aspect-ratio"),
  framesMax: configuration.get("images.limits.frames"),
  framesPixelsMax: configuration.get("images.limits.frame-pixels"),
});

/** Opens the client that fetches imports, behind the outbound guard. */
function openFetchFile({ configuration, runner, clock, metrics }: Context, staging: StagingArea) {
  const imported = metrics.histogram("signalbox_outbound_seconds");
  const outbound = createOutboundClient({
    allow: configuration.get("images.import.allow"),
    refusePorts: ownPorts,
    clock,
    onEnd: (outcome, durationMs) => imported.observe({ outcome }, durationMs / 1000),
  });
  runner.defer("outbound client", () => outbound.close());
  return createFetchFile({ outbound, staging, importDeadlineMs: () => configuration.get("images.import.deadline") });
}
