export type { BatchHandler, ConsumerTable, Handler, StatelessContext } from "./consumer/consumer-table.ts";
export { createConsumer } from "./consumer/create-consumer.ts";
export type { DeadLetter } from "./dead-letters/dead-letter.ts";
export { createDeadLetters, type DeadLetters } from "./dead-letters/dead-letters.ts";
export { dropDeadLetter, listDeadLetters, replayDeadLetter } from "./dead-letters/inspect-dead-letters.ts";
export { decodeEvent, eventNameOf, type ReceivedEvent, UnreadableMessage } from "./envelope/decode-event.ts";
export { publishEvents } from "./envelope/publish-events.ts";
export type { EventLog, LogRecord, PartitionRange, ReceivedRecord } from "./event-log.ts";
export { eventsMigrations } from "./migrations.ts";
export { openEventLog } from "./open-event-log.ts";
export { outboxInsert, type PreparedEvent } from "./outbox/append-events.ts";
export {
  type DeadEvent,
  dropDeadEvent,
  findDeadEvent,
  listDeadEvents,
  replayDeadEvent,
} from "./outbox/dead-events.ts";
export { createOutbox, type Outbox } from "./outbox/outbox.ts";
export { eventsProperties } from "./properties.ts";
export { PublishError } from "./publish-error.ts";
export { stateRepetitionMs } from "./state-topics.ts";
export { topicSettings } from "./topic-settings.ts";
