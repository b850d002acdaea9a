import type { StatelessTable } from "@signalbox/events";
import type { createAnswerJob } from "./rendering/answer-job.ts";

/** What the worker does when it hears of a job. */
export function createConsumerTable(answerJob: ReturnType<typeof createAnswerJob>): StatelessTable {
  return { "image.render_requested": answerJob };
}
