import { AsyncLocalStorage } from "node:async_hooks";
import type { Logger } from "./telemetry/logger.ts";
import type { Metrics } from "./telemetry/metrics.ts";

const running = new AsyncLocalStorage<RequestScope>();

/**
 * A request or an upgraded connection, as all work that it began sees it. An error of such work that nobody awaits ends
 * what began it, and not the process.
 */
export class RequestScope {
  /** Names it in log lines. */
  readonly fields: object;
  // Cleared at the end: whatever was opened meanwhile, a pooled connection for one, refers to the scope for ever.
  #onFailure: ((error: unknown) => void) | null;

  constructor(fields: object, onFailure: (error: unknown) => void) {
    this.fields = fields;
    this.#onFailure = onFailure;
  }

  /** Returns the scope that the running code belongs to, also inside of `unhandledRejection`. */
  static current(): RequestScope | undefined {
    return running.getStore();
  }

  run<T>(work: () => T): T {
    return running.run(this, work);
  }

  fail(error: unknown): void {
    this.#onFailure?.(error);
  }

  /** Ends the scope: later failures have nothing left to end. */
  close(): void {
    this.#onFailure = null;
  }
}

let ended = 0;

/** Ends the request that a rejected promise belongs to. Returns false when it belongs to none. */
export function endRequestOfRejection(error: unknown, log: Logger): boolean {
  const scope = RequestScope.current();
  if (scope === undefined) return false;
  ended++;
  log.error({ ...scope.fields, error }, "An unhandled promise rejection ended its request");
  scope.fail(error);
  return true;
}

/** Counts, in the metrics of this process, the requests that were ended like that. */
export function countUnhandledRejections(metrics: Metrics): void {
  let counted = 0;
  metrics.counter("signalbox_unhandled_rejections_total", (counter) => {
    counter.inc({}, ended - counted);
    counted = ended;
  });
}
