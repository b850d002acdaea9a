import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ImageResource } from "@signalbox/contracts";
import { minutes, seconds } from "@signalbox/core";
import { exportRoutes } from "@signalbox/http";
import { type ImageLimits, type ImagePool, openImagePool } from "@signalbox/imaging";
import { createOutboundClient } from "@signalbox/net";
import { createWakeUp, ownPorts, type ServiceContext, type ServiceParts } from "@signalbox/runtime";
import { imageJobMetrics, type OpenedService, openPrincipals, openService } from "@signalbox/service";
import {
  createSealer,
  type ObjectStore,
  openObjectFiles,
  openObjectStore,
  openOwnFolder,
  prismaAdapter,
  type Sealer,
} from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import { createBlobStore } from "./blobs/blob-store.ts";
import { createBlobs } from "./blobs/blobs.ts";
import { createDeletionStore } from "./deletions/deletion-store.ts";
import { createDeletions } from "./deletions/deletions.ts";
import { createDirectUploadStore } from "./direct-uploads/direct-upload-store.ts";
import { createDirectUploads } from "./direct-uploads/direct-uploads.ts";
import { createJudgeUpload } from "./direct-uploads/judge-upload.ts";
import { createPresignedTarget } from "./direct-uploads/presigned-target.ts";
import { openResumableTarget } from "./direct-uploads/resumable-target.ts";
import { PrismaClient } from "./generated/prisma/client.ts";
import type { Image } from "./images/image.ts";
import { createLoaders, resolversOf } from "./images/image-resolvers.ts";
import { createImageStore } from "./images/image-store.ts";
import { createImageEvents, viewImage } from "./images/image-view.ts";
import { createImages } from "./images/images.ts";
import type { Properties } from "./properties.ts";
import { publicContentPolicy } from "./renditions/content-routes.ts";
import { createKeptRenditions } from "./renditions/kept-renditions.ts";
import { RenderBudget } from "./renditions/render-budget.ts";
import { createTermsOf } from "./renditions/render-terms.ts";
import { Renderer } from "./renditions/renderer.ts";
import { createRenditionMemory } from "./renditions/rendition-memory.ts";
import { createRenditionStore } from "./renditions/rendition-store.ts";
import { createRenditions } from "./renditions/renditions.ts";
import { createVariants } from "./renditions/variants.ts";
import { publicRoutes } from "./routes.ts";
import { createSignedUrls } from "./signing/signed-urls.ts";
import { createSigningKeyStore, sealedSigningKeys } from "./signing/signing-key-store.ts";
import { createSigningKeys } from "./signing/signing-keys.ts";
import { createImports } from "./uploads/imports.ts";
import { openStagingArea } from "./uploads/staging-area.ts";
import { createUploads } from "./uploads/uploads.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** A process that runs the image worker too shares one pool between both. */
type Context = ServiceContext<Properties> & { readonly imagePool?: ImagePool };

const sweepEveryMs = minutes(5);
/** Well within the minute in which the bytes of a deleted image must be erased. */
const eraseEveryMs = seconds(5);
const reissueEveryMs = seconds(20);
const sweepUploadsEveryMs = seconds(30);

/** Receives, describes, renders and deletes images. */
export async function createService(context: Context): Promise<ServiceParts> {
  const rateLimits = () => [publicContentLimit(context)];
  const sealer = createSealer(context.configuration.get("secrets.keys"));
  const sealed = { sealer, sealedColumns: [sealedSigningKeys] };
  const opened = await openService(context, { prismaDirectory, rateLimits, ...sealed });
  const parts = await openParts(context, opened, sealer);
  const { images, variants, blobs, imageStore } = parts;

  opened.consume("facts", {
    "account.deleted": (event, { tx }) => images.deleteAllOf(tx, event.subject),
    "image.rendered": (event, { tx }) => variants.settle(tx, event.data),
  });
  context.runner.housekeeping("sweep blobs", sweepEveryMs, async (signal) =>
    (await blobs.sweep(signal)) > 0 ? "again" : "done",
  );

  context.runner.every("erase deleted images", parts.eraseWake, async (signal) =>
    (await parts.deletions.eraseNext()) || (await blobs.sweepReleased(signal)) > 0 ? "again" : "done",
  );

  context.runner.every("sweep direct uploads", parts.sweepUploadsWake, async () =>
    (await parts.directUploads.sweepNext()) ? "again" : "done",
  );

  context.runner.every(
    "reissue lost render jobs",
    () => Math.min(reissueEveryMs, parts.lostAfterMs()),
    async () => ((await variants.reissueLost()) > 0 ? "again" : "done"),
  );

  const served = opened.serve({
    title: "Signalbox images",
    principals: openPrincipals(context),
    edges: { routes: publicRoutes(parts), resolvers: resolversOf(parts) },
    corsOrigins: context.configuration.get("images.cors.origins"),
    internalRoutes: exportRoutes({ item: ImageResource, list: imageStore.list, view: parts.view }),
    graph: {
      typeDefs: await readFile(schemaFile, "utf8"),
      createLoaders: (principal) => createLoaders(imageStore, principal),
    },
  });
  return { ...served, info: () => ({ imaging: parts.imagePool.describe() }) };
}

/** Opens the service's own stores and builds its capabilities from them. */
async function openParts(context: Context, opened: OpenedService, sealer: Sealer) {
  const { pool, outbox, cache, accessStates, pageLimits } = opened;
  const { configuration, runner, clock, log, tracer, metrics } = context;
  const live = livePropertiesOf(context);
  const { objects, objectFiles, staging } = await openStores(context, live.uploadBytesMax);
  const outbound = openOutbound(context);

  const memoryMax = configuration.get("images.render.memory-max");
  const baseUrl = configuration.get("http.base-url");
  const view = (image: Image) => viewImage(image, baseUrl);
  const eraseWake = createWakeUp(eraseEveryMs);
  const sweepUploadsWake = createWakeUp(sweepUploadsEveryMs);
  const shared = {
    ...{ eraseWake, eraseSoon: eraseWake.wake, sweepUploadsWake, sweepUploadsSoon: sweepUploadsWake.wake },
    ...{ baseUrl, pool, outbox, cache, objects, staging, outbound, clock, log, tracer, metrics, view, pageLimits },
    ...live,
    imageStore: createImageStore(pool, new PrismaClient({ adapter: prismaAdapter(pool) })),
    blobStore: createBlobStore(pool),
    renditionStore: createRenditionStore(pool),
    deletionStore: createDeletionStore(pool),
    directUploadStore: createDirectUploadStore(pool),
    uploadTarget: await openUploadTarget(objects, { directory: objectFiles.directory, baseUrl, log }),
    events: createImageEvents(view),
    objectFiles,
    imagePool:
      context.imagePool ??
      (await openImagePool({
        directory: await openOwnFolder(tmpdir(), "signalbox-imaging", runner),
        ...{ memoryMax, clock, log, runner, onJob: imageJobMetrics(metrics) },
      })),
    termsOf: createTermsOf({ clock, answerMs: () => seconds(configuration.get("limits.requestTimeoutSeconds")) }),
    renderBudget: new RenderBudget({ clock, budgetMs: () => configuration.get("images.public.render-budget") }),
    memory: createRenditionMemory({ bytesMax: configuration.get("images.render.memory") }),
    isDeleted: (accountId: string) => accessStates.stateOf(accountId)?.state === "deleted",
  };
  const blobs = createBlobs(shared);
  const deletions = createDeletions({ ...shared, blobs });
  const signingKeyStore = createSigningKeyStore(pool, sealer);
  const signingKeys = createSigningKeys({ ...shared, signingKeyStore });
  const images = createImages({ ...shared, signingKeyStore });
  const uploads = createUploads({ ...shared, blobs });
  const directUploads = createDirectUploads({ ...shared, images });
  return {
    ...shared,
    blobs,
    deletions,
    signingKeys,
    signedUrls: createSignedUrls({ ...shared, signingKeys }),
    images,
    uploads,
    directUploads,
    judgeUpload: createJudgeUpload({ ...shared, uploads }),
    imports: createImports({ ...shared, images, uploads }),
    renditions: createRenditions(shared),
    variants: createVariants({ ...shared, blobs }),
    renderer: new Renderer({ ...shared, kept: createKeptRenditions(shared) }),
  };
}

/** Opens the stores of originals and of files that wait to be judged. */
async function openStores({ configuration, runner, log, tracer, metrics }: Context, bytesMax: () => number) {
  const [accessKey, secretKey] = [configuration.get("blobs.access-key"), configuration.get("blobs.secret-key")];
  const url = configuration.get("blobs.url");
  const startWaitMs = configuration.get("blobs.start-wait");
  const publicOrigin = configuration.get("images.direct-upload.store-origin");
  const objects = await openObjectStore({
    ...{ url, accessKey, secretKey, startWaitMs, publicOrigin },
    ...{ runner, log, tracer, metrics },
  });
  const directory = configuration.get("images.upload.directory");
  const cacheMax = configuration.get("images.originals.cache");
  const objectFiles = await openObjectFiles({ objects, directory, cacheMax, runner });
  const stagingDirectory = directory ?? objectFiles.directory;
  const staging = await openStagingArea({ directory: stagingDirectory, bytesMax, runner, log });
  return { objects, objectFiles, staging };
}

interface UploadTargetOptions {
  /** The folder beside the objects. */
  readonly directory: string;
  readonly baseUrl: string;
  readonly log: Logger;
}

/**
 * Opens the storage of direct uploads: the object store itself where clients can reach it, else a folder beside the
 * objects.
 */
async function openUploadTarget(objects: ObjectStore, { directory, baseUrl, log }: UploadTargetOptions) {
  const { presignPut, folder } = objects;
  if (presignPut) return createPresignedTarget({ ...objects, presignPut });
  if (!folder) throw new Error("the object store supports direct uploads neither by clients nor in its folder");
  return openResumableTarget({ folder: join(directory, "direct-uploads"), baseUrl, log });
}

const publicContentLimit = ({ configuration }: Context) => ({
  name: publicContentPolicy,
  limit: configuration.get("images.public.requests"),
  windowMs: configuration.get("images.public.window"),
});

function openOutbound({ configuration, runner, clock, metrics }: Context) {
  const allow = configuration.get("images.import.allow");
  const imported = metrics.histogram("signalbox_outbound_seconds");
  const onEnd = (outcome: string, durationMs: number) => imported.observe({ outcome }, durationMs / 1000);
  const outbound = createOutboundClient({ allow, refusePorts: ownPorts, clock, onEnd });
  runner.defer("outbound client", () => outbound.close());
  return outbound;
}

/** Properties that are read at each use because they may change while the process runs. */
function livePropertiesOf({ configuration }: Context) {
  return {
    acceptedTypes: () => configuration.get("supported.imageTypes"),
    uploadBytesMax: () => configuration.get("limits.maxUploadBytes"),
    importDeadlineMs: () => configuration.get("images.import.deadline"),
    mayUploadDirectly: () => configuration.get("capabilities.imageDirectUpload"),
    directUploadLimits: () => ({
      openMax: configuration.get("images.direct-upload.open-max"),
      bytesMax: configuration.get("images.direct-upload.bytes-max"),
      livesMs: configuration.get("images.direct-upload.expires-after"),
    }),
    mayImport: () => configuration.get("capabilities.imageImport"),
    maySign: () => configuration.get("capabilities.signedUrls"),
    isAvifOffered: () => configuration.get("capabilities.imageAvif"),
    avifPixelsMax: () => configuration.get("images.render.avif-pixels"),
    publicTransforms: () => configuration.get("images.public.transforms"),
    quota: () => ({ images: configuration.get("images.quota.images"), bytes: configuration.get("images.quota.bytes") }),
    attemptsMax: () => configuration.get("images.render.attempts"),
    lostAfterMs: () => configuration.get("images.render.lost-after"),
    waitMaxMs: () => configuration.get("images.render.wait-max"),
    graceMs: () => configuration.get("images.sweep.grace"),
    cacheSeconds: (visibility: Image["visibility"]) => configuration.get(`images.cache.${visibility}`),
    imageLimits: (): ImageLimits => ({
      sideMax: configuration.get("limits.maxImageSide"),
      pixelsMax: configuration.get("limits.maxImagePixels"),
      avifPixelsMax: configuration.get("images.limits.avif-pixels"),
      aspectRatioMax: configuration.get("images.limits.aspect-ratio"),
      framesMax: configuration.get("images.limits.frames"),
      framesPixelsMax: configuration.get("images.limits.frame-pixels"),
    }),
  };
}
