import * as parkedKeys from "./consumer/parked-keys.ts";
import * as deadLetters from "./dead-letters/dead-letters.ts";
import * as deadEvents from "./outbox/dead-events.ts";

export type { BatchHandler, ConsumerTable, Handler, StatelessContext } from "./consumer/consumer-table.ts";
export { createConsumer } from "./consumer/create-consumer.ts";
export { parkMessage } from "./consumer/parked-messages.ts";
export { createDeadLetters, type DeadLetters } from "./dead-letters/dead-letters.ts";
export { decodeEvent, eventNameOf, type ReceivedEvent, UnreadableMessage } from "./envelope/decode-event.ts";
export { publishEvents } from "./envelope/encode-event.ts";
export {
  type EventLog,
  type LogRecord,
  type PartitionRange,
  PublishError,
  type ReceivedRecord,
  type RecordPlace,
} from "./log/event-log.ts";
export { eventsProperties } from "./log/log-properties.ts";
export { restoreWhenReplaced } from "./log/replaced-topics.ts";
export { stateRepetitionMs, topicSettings } from "./log/topic-settings.ts";
export { eventsMigrations } from "./migrations.ts";
export { openEventLog } from "./open-event-log.ts";
export { outboxInsert, type PreparedEvent } from "./outbox/append-events.ts";
export { createOutbox, type Outbox } from "./outbox/outbox.ts";
export { readOutboxState } from "./outbox/outbox-metrics.ts";
export { ReplayEngine, type ReplayKind, type ReplayStep } from "./outbox/replay-engine.ts";

/** Operators' work on what was not handled or published, each a table of functions. */
export { deadEvents, deadLetters, parkedKeys };
