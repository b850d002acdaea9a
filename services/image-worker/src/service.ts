import { availableParallelism, tmpdir } from "node:os";
import { createConsumer, createDeadLetters } from "@signalbox/events";
import { type ImagePool, openImagePool } from "@signalbox/imaging";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { followConfiguration, imageJobMetrics, openServiceLog } from "@signalbox/service";
import { openObjectFiles, openObjectStore, openPrivateDirectory } from "@signalbox/storage";
import { answerJob } from "./answer-job.ts";
import type { Properties } from "./properties.ts";
import type { WorkerService } from "./worker-service.ts";

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
  const service: WorkerService = { clock, log, tracer, eventLog, objects, objectFiles, imagePool };
  createConsumer({
    service: "image-worker",
    name: "jobs",
    pool: null,
    table: {
      "image.render_requested": (job, run) => answerJob(service, job, run),
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
