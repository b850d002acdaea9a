import { join } from "node:path";
import { seconds } from "@signalbox/core";
import { createWakeUp, type ServiceContext } from "@signalbox/runtime";
import type { OpenedService } from "@signalbox/service";
import type { ObjectFiles, ObjectStore } from "@signalbox/storage";
import type { ViewImage } from "../images/image.ts";
import type { ImageStore } from "../images/image-store.ts";
import type { Images } from "../images/images.ts";
import type { Properties } from "../properties.ts";
import type { Originals } from "../uploads/originals.ts";
import type { StagingArea } from "../uploads/staging-area.ts";
import { createCompleteUpload } from "./complete-upload.ts";
import { createDirectUploadStore } from "./direct-upload-store.ts";
import { createDirectUploads } from "./direct-uploads.ts";
import { openResumableTarget } from "./resumable-upload-target.ts";
import { createPresignedTarget } from "./upload-target.ts";

const sweepUploadsEveryMs = seconds(30);

interface Dependencies {
  readonly files: { readonly objects: ObjectStore; readonly objectFiles: ObjectFiles; readonly staging: StagingArea };
  readonly images: Images;
  readonly imageStore: ImageStore;
  readonly view: ViewImage;
  readonly originals: Originals;
}

/** Opens the uploads whose bytes go to the store without this service, or to a folder beside its objects. */
export async function openDirectUploads(
  context: ServiceContext<Properties>,
  { pool, outbox }: OpenedService,
  { files, images, imageStore, view, originals }: Dependencies,
) {
  const { configuration, clock, metrics } = context;
  const uploadBytesMax = () => configuration.get("limits.maxUploadBytes");
  const directUploadStore = createDirectUploadStore(pool);
  const uploadTarget = await openUploadTarget(context, files);
  const sweepWakeUp = createWakeUp(sweepUploadsEveryMs);
  const directUploads = createDirectUploads({
    pool,
    directUploadStore,
    uploadTarget,
    outbox,
    clock,
    metrics,
    limits: () => ({
      isOffered: configuration.get("capabilities.imageDirectUpload"),
      acceptedTypes: configuration.get("supported.imageTypes"),
      fileBytesMax: uploadBytesMax(),
      openMax: configuration.get("images.direct-upload.open-max"),
      openBytesMax: configuration.get("images.direct-upload.bytes-max"),
      livesMs: configuration.get("images.direct-upload.expires-after"),
    }),
    sweepSoon: sweepWakeUp.wake,
  });
  const completeUpload = createCompleteUpload({
    directUploads,
    directUploadStore,
    uploadTarget,
    staging: files.staging,
    originals,
    images,
    imageStore,
    clock,
  });
  return { directUploads, directUploadStore, completeUpload, sweepWakeUp, view, clock, uploadBytesMax };
}

/** Chooses the object store itself where clients can reach it, else a folder. */
async function openUploadTarget(
  { configuration, log }: ServiceContext<Properties>,
  { objects, objectFiles }: Dependencies["files"],
) {
  const { presignPut, folder } = objects;
  if (presignPut) return createPresignedTarget({ ...objects, presignPut });
  if (!folder) throw new Error("the object store supports direct uploads neither by clients nor in its folder");
  const baseUrl = configuration.get("http.base-url");
  return openResumableTarget({ folder: join(objectFiles.directory, "direct-uploads"), baseUrl, log });
}
