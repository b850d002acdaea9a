import { register } from "node:module";
import type { Instrumentation } from "@opentelemetry/instrumentation";
import { PgInstrumentation } from "@opentelemetry/instrumentation-pg";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";

/**
 * The clients whose spans are made for us. HTTP server, outbox, log and worker spans are our own: the instrumentation
 * of kafkajs would overwrite the traceparent that was stored with an event.
 */
export function instrumentations(): Instrumentation[] {
  // Without this hook, pg imported from an ES module is never seen.
  register("@opentelemetry/instrumentation/hook.mjs", import.meta.url);
  return [
    new PgInstrumentation({ requireParentSpan: true, ignoreConnectSpans: true }),
    new UndiciInstrumentation({ requireParentforSpans: true }),
  ];
}
