import {
  createDeadLetters,
  createOutbox,
  type DeadLetters,
  type EventLog,
  type eventsProperties,
  type Outbox,
} from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import type { Pool } from "@signalbox/storage";

type Context = ServiceContext<typeof eventsProperties>;

/** Opens the outbox of the service, with its relay running, and its dead letters. */
export function openOutbox(
  context: Context,
  pool: Pool,
  eventLog: EventLog,
): { readonly outbox: Outbox; readonly deadLetters: DeadLetters } {
  const { configuration, service, log, metrics, clock, tracer, runner } = context;
  const outbox = createOutbox({
    pool,
    service,
    log,
    metrics,
    clock,
    tracer,
    maxBytes: configuration.get("events.message.max-bytes"),
    publishTimeoutMs: configuration.get("events.publish-timeout"),
    idlePollMs: configuration.get("events.outbox.idle-poll"),
  });
  runner.worker("outbox relay", (signal, beat) => outbox.runRelay(eventLog, signal, beat));
  return { outbox, deadLetters: createDeadLetters({ service, eventLog, log, metrics, clock }) };
}
