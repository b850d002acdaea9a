import { availableParallelism, tmpdir } from "node:os";
import { createConsumer, createDeadLetters } from "@signalbox/events";
import { type ImagePool, openImagePool } from "@signalbox/imaging";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { followConfiguration, imageJobMetrics, openServiceLog } from "@signalbox/service";
import { openObjectFiles, openObjectStore, openPrivateDirectory } from "@signalbox/storage";
import type { Properties } from "./properties.ts";
import { answerJob } from "./rendering/answer-job.ts";

/** A process that runs the images service too shares one pool between both. */
type Context = ServiceContext<Properties> & { readonly imagePool?: ImagePool };

/** Renders images, one per core at a time. Stores no state of its own. */
export async function createService(context: Context): Promise<ServiceParts> {
  const { configuration, runner, log, tracer, metrics, clock } = context;
  const eventLog = await openServiceLog(context);
  await followConfiguration(context, eventLog);
  const objects = await openObjectStore({
    url: configuration.get("blobs.url"),
    accessKey: configuration.get("blobs.access-key"),
    secretKey: configuration.get("blobs.secret-key"),
    startWaitMs: configuration.get("blobs.start-wait"),
    runner,
    log,
    tracer,
    metrics,
  });
  const cacheMax = configuration.get("images.originals.cache");
  const objectFiles = await openObjectFiles({ objects, directory: null, cacheMax, runner });
  const memoryMax = configuration.get("images.render.memory-max");
  const imagePool =
    context.imagePool ??
    (await openImagePool({
      directory: await openPrivateDirectory(tmpdir(), "signalbox-imaging", runner),
      memoryMax,
      clock,
      log,
      runner,
      onJob: imageJobMetrics(metrics),
    }));
  createConsumer({
    service: "image-worker",
    name: "jobs",
    pool: null,
    table: {
      "image.render_requested": (job, progress) =>
        answerJob(job, progress, { objects, objectFiles, imagePool, eventLog, clock, tracer, log }),
    },
    deadLetters: createDeadLetters({ service: "image-worker", eventLog, log, metrics, clock }),
    concurrency: configuration.get("image-worker.jobs") ?? availableParallelism(),
    eventLog,
    log,
    tracer,
    metrics,
    clock,
  }).start(context);
  return { info: () => ({ imaging: imagePool.describe() }) };
}
