import { setTimeout as sleep } from "node:timers/promises";
import { draft, type EventDraft } from "@signalbox/contracts";
import { isUnavailable, seconds } from "@signalbox/core";
import { PublishError, publishEvents, type ReceivedEvent, type StatelessContext } from "@signalbox/events";
import { S3Refusal } from "@signalbox/storage";
import { failed, type RenderedVariants, renderVariants } from "./render-variants.ts";
import type { WorkerService } from "./worker-service.ts";

type Job = ReceivedEvent<"image.render_requested">;

const firstPauseMs = 200;
const longestPauseMs = seconds(5);

/**
 * Runs a job and publishes its answer. Resolves after the log accepted the answer, so the job's offset is committed
 * after it. The worker has no database to park a job in: during an outage of the store or the log it waits here, and
 * also while the store refuses us or the machine is full, which is no image's fault; every other failure becomes an
 * answer, and the images service may ask again.
 */
export async function answerJob(service: WorkerService, job: Job, run: StatelessContext): Promise<void> {
  const { eventLog, clock, tracer, log } = service;
  const startedMs = clock.steadyMs();
  const done = await throughOutages(service, run, () => renderVariants(service, job.data, run)).catch(
    (error: unknown) => {
      if (run.signal.aborted) throw error;
      log.error({ error }, "a job failed because of the worker");
      return failed({ code: "internal", message: "The worker failed.", retryable: true });
    },
  );
  const answer = answerTo(job, done, clock.steadyMs() - startedMs);
  const publisher = { eventLog, service: "image-worker", clock, tracer } as const;
  await throughOutages(service, run, () => publishEvents(publisher, [answer]));
}

async function throughOutages<T>(
  { log }: WorkerService,
  { signal, heartbeat }: StatelessContext,
  work: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      const isAway =
        isUnavailable(error) || error instanceof S3Refusal || (error instanceof PublishError && error.retriable);
      if (signal.aborted || !isAway) throw error;
      if (pauseMs === firstPauseMs) log.warn({ error }, "a job waits for an unavailable dependency");
      await sleep(pauseMs, undefined, { signal });
      await heartbeat();
    }
  }
}

function answerTo(job: Job, done: RenderedVariants, durationMs: number): EventDraft<"image.rendered"> {
  const { job_id, image_id, attempt } = job.data;
  // Read by services/images (`consumers.ts`), which settles the variants.
  return draft("image.rendered", {
    subject: job.subject,
    accountId: job.accountId,
    data: {
      job_id,
      image_id,
      attempt,
      outcome: done.failure ? "failed" : "rendered",
      renditions: [...done.renditions],
      placeholder: done.placeholder,
      dominant_color: done.dominantColor,
      failure: done.failure,
      duration_ms: Math.round(durationMs * 10) / 10,
    },
  });
}
