import type { RequestListener } from "node:http";
import type { ErrorResponses } from "@signalbox/runtime";
import { refuse } from "../edge/in-process-edge.ts";

/** A listener that answers 503 until it is opened, and is `listener` from then on. */
export function whileStarting(
  listener: RequestListener,
  errorResponse: ErrorResponses,
): { listener: RequestListener; open: () => void } {
  let current: RequestListener = (request, response) => {
    const headers = { "retry-after": "1" };
    const refusal = { status: 503, code: "unavailable", message: "Signalbox is starting.", headers } as const;
    refuse(request, response, errorResponse, refusal);
  };
  return {
    listener: (request, response) => current(request, response),
    open: () => {
      current = listener;
    },
  };
}

/** Nothing is silent for more than 3 s while it starts. */
const repeatMs = 2500;

/** Writes each step of the start, and again how long it has taken while it goes on. */
export function createProgress(write: (line: string) => void): { tell(step: string): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  return {
    tell(step) {
      clearInterval(timer);
      const startedMs = performance.now();
      write(`Starting ${step}`);
      const repeat = () => write(`Starting ${step}, ${Math.round((performance.now() - startedMs) / 1000)} s so far`);
      timer = setInterval(repeat, repeatMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
