import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ImageResource } from "@signalbox/contracts";
import { AppError, seconds } from "@signalbox/core";
import { exportRoutes } from "@signalbox/http";
import { openStagingArea } from "@signalbox/http/uploads";
import { type ImagePool, openImagePool, sniffBytes } from "@signalbox/imaging";
import { openOutboundClient } from "@signalbox/net";
import { createWakeUp, type ServiceContext, type ServiceParts } from "@signalbox/runtime";
import { imageJobMetrics, keepStatistics, type OpenedService, openPrincipals, openService } from "@signalbox/service";
import {
  createSealer,
  type ObjectFiles,
  type ObjectStore,
  openObjectFiles,
  openObjectStore,
  openPrivateDirectory,
  type Sealer,
  SigningKeyStore,
  sealedSigningKeys,
} from "@signalbox/storage";
import { imageConsumers } from "./consumers.ts";
import type { ImagesService } from "./context/images-service.ts";
import { serviceEdges } from "./edges.ts";
import { whyImages } from "./images/why-image.ts";
import type { Properties } from "./properties.ts";
import { publicContentPolicy } from "./renditions/content-routes.ts";
import { ContentCache } from "./state/content-cache.ts";
import { viewImage } from "./state/image.ts";
import { ImageStore } from "./state/image-store.ts";
import { RenderBudget } from "./state/render-budget.ts";
import { RenditionMemory } from "./state/rendition-memory.ts";
import { TransformationStore } from "./state/transformation-store.ts";
import { openResumableTarget, PresignedTarget, type UploadTarget } from "./state/upload-target.ts";
import { ImageStatistics } from "./statistics/image-statistics.ts";
import { tooManyBytes } from "./uploads/originals.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../subgraph.graphql", import.meta.url);

/** Well within the minute in which the bytes of a deleted image must be erased. */
const eraseEveryMs = seconds(5);
const sweepUploadsEveryMs = seconds(30);

/** A process that runs the image worker too shares one pool between both. */
type Context = ServiceContext<Properties> & { readonly imagePool?: ImagePool };

/** The worker has no listener, and its jobs are ours. */
const workerJobs = {
  service: "image-worker",
  group: "image-worker.jobs",
  topics: ["signalbox.image-render.v1"],
  parks: false,
} as const;

/** Receives, describes, renders and deletes images. */
export async function createService(context: Context): Promise<ServiceParts> {
  const { configuration, runner, clock } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const rateLimits = () => [publicContentLimit(context)];
  const options = {
    prismaDirectory,
    rateLimits,
    sealer,
    sealedColumns: [sealedSigningKeys("images")],
    answersFor: [workerJobs],
  };
  const opened = await openService(context, options);
  const { pool, consume, serve } = opened;
  const service = await fillContext(context, opened, sealer);
  const { imagePool, imageStore, imageStatistics } = service;

  const { step } = imageStatistics.stored;
  keepStatistics({ runner, pool, clock }, { step, save: imageStatistics.save });
  consume("facts", imageConsumers(service));
  startWorkers(runner, service);
  const baseUrl = configuration.get("http.base-url");
  const exported = exportRoutes({
    item: ImageResource,
    list: (accountId, range) => imageStore.list(accountId, range),
    view: (image) => viewImage(image, baseUrl),
  });
  const served = serve({
    title: "Signalbox images",
    principals: openPrincipals(context),
    edges: serviceEdges(service),
    corsOrigins: configuration.get("images.cors.origins"),
    internalRoutes: [exported],
    whyFinders: whyImages(service),
    typeDefs: await readFile(schemaFile, "utf8"),
  });
  return { ...served, info: () => ({ imaging: imagePool.describe() }) };
}

/** Fills the context of this service, in the order in which its parts are opened. */
async function fillContext(context: Context, opened: OpenedService, sealer: Sealer): Promise<ImagesService> {
  const { configuration, runner, clock, log, tracer, metrics } = context;
  const { pool, outbox, cache, accessStates, pageLimits } = opened;
  const objects = await openObjects(context);
  const directory = configuration.get("images.upload.directory");
  const cacheMax = configuration.get("images.originals.cache");
  const objectFiles = await openObjectFiles({ objects, directory, cacheMax, runner });
  const arrivals = {
    directory: directory ?? objectFiles.directory,
    bytesMax: () => configuration.get("limits.maxUploadBytes"),
    tooLarge: (bytesMax: number) => new AppError("image_too_large", tooManyBytes(bytesMax)),
    headBytes: sniffBytes,
  };
  return {
    configuration,
    clock,
    log,
    tracer,
    pool,
    outbox,
    cache,
    accessStates,
    pageLimits,
    objects,
    objectFiles,
    staging: await openStagingArea({ ...arrivals, runner, log }),
    imagePool: context.imagePool ?? (await openOwnPool(context)),
    outbound: openOutboundClient(context, { allow: configuration.get("images.import.allow") }),
    uploadTarget: await openUploadTarget(context, objects, objectFiles),
    imageStore: new ImageStore(pool, configuration),
    signingKeyStore: new SigningKeyStore("images", pool, sealer, clock),
    transformationStore: new TransformationStore(pool),
    renditionMemory: new RenditionMemory(configuration.get("images.render.memory")),
    renderBudget: new RenderBudget(clock, () => configuration.get("images.public.render-budget")),
    contentCache: new ContentCache(),
    imageStatistics: new ImageStatistics(pool, clock),
    directUploadsTotal: metrics.counter("signalbox_image_direct_uploads_total"),
    eraseWakeUp: createWakeUp(eraseEveryMs),
    sweepUploadsWakeUp: createWakeUp(sweepUploadsEveryMs),
  };
}

/** Opens the store of originals and renditions. */
function openObjects({ configuration, runner, log, tracer, metrics }: Context): Promise<ObjectStore> {
  return openObjectStore({
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
}

/** Chooses where the bytes of direct uploads go: to the object store itself where clients can reach it, else to a folder. */
async function openUploadTarget(
  { configuration, log }: Context,
  objects: ObjectStore,
  objectFiles: ObjectFiles,
): Promise<UploadTarget> {
  const { presignPut, folder } = objects;
  if (presignPut) return new PresignedTarget({ ...objects, presignPut });
  if (!folder) throw new Error("the object store supports direct uploads neither by clients nor in its folder");
  return openResumableTarget(join(objectFiles.directory, "direct-uploads"), configuration.get("http.base-url"), log);
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
