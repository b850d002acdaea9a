import { availableParallelism } from "node:os";
import { createConsumer, createDeadLetters } from "@signalbox/events";
import { assertUntrustedLoadersBlocked } from "@signalbox/imaging";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { followConfiguration, openServiceLog } from "@signalbox/service";
import { openObjectStore } from "@signalbox/storage";
import type { Properties } from "./properties.ts";
import { answerJob } from "./rendering/answer-job.ts";

/** Makes renditions of images, as many at a time as there are cores. Keeps nothing of its own. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner, log, tracer, metrics, clock } = context;
  await assertUntrustedLoadersBlocked();
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
  });
  createConsumer({
    service: "image-worker",
    name: "jobs",
    pool: null,
    table: {
      "image.render_requested": (job, progress) => answerJob(job, progress, { objects, eventLog, clock, tracer, log }),
    },
    deadLetters: createDeadLetters({ service: "image-worker", eventLog, log, metrics, clock }),
    concurrency: configuration.get("image-worker.jobs") ?? availableParallelism(),
    ...{ eventLog, log, tracer, metrics, clock },
  }).start(context);
  return {};
}
