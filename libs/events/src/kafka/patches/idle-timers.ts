import { createRequire } from "node:module";
import { systemClock, trueMs } from "@signalbox/core";

interface RequestQueue {
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  throttledUntil: number;
  readonly pending: readonly unknown[];
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

/**
 * Fault: every connection wakes each millisecond, even when idle; 3 idle producers burn 2 % of a core and print
 * TimeoutNegativeWarning. Here a check is scheduled only while something waits.
 * Seen in kafkajs 2.2.4. Upstream: tulios/kafkajs#1704, #1751.
 */
const queue: RequestQueue = createRequire(import.meta.url)("kafkajs/src/network/requestQueue/index.js").prototype;

queue.scheduleCheckPendingRequests = function scheduleCheckPendingRequests(this: RequestQueue) {
  if (this.throttleCheckTimeoutId) return;
  const throttledMs = trueMs(this.throttledUntil) - systemClock.nowMs();
  if (this.pending.length === 0 && throttledMs <= 0) return;
  this.throttleCheckTimeoutId = setTimeout(
    () => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    },
    throttledMs > 0 ? throttledMs : 10,
  );
};
