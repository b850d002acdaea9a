export type { BatchHandler, ConsumerTable, Handler, StatelessContext } from "./consumer/consumer-table.ts";
export { createConsumer } from "./consumer/create-consumer.ts";
export {
  findParkedEvent,
  findParkedKey,
  listParkedKeys,
  listParkedMessages,
  lockParkedKey,
  type ParkedKey,
  type QueuedMessage,
  retryParkedKey,
  skipParkedMessage,
} from "./consumer/parked-keys.ts";
export { parkedDepth, parkMessage } from "./consumer/parked-messages.ts";
export {
  createDeadLetters,
  type DeadLetter,
  type DeadLetters,
  deadLetterRecord,
  droppedLetter,
  findDeadLetter,
  type ListedDeadLetter,
  listDeadLetters,
  receivedAgain,
  replayRecord,
} from "./dead-letters/dead-letters.ts";
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
export {
  type DeadEvent,
  dropDeadEvent,
  findDeadEvent,
  listDeadEvents,
  replayDeadEvent,
} from "./outbox/dead-events.ts";
export { createOutbox, type Outbox } from "./outbox/outbox.ts";
export { readOutboxState } from "./outbox/outbox-metrics.ts";
export { createReplayEngine, type ReplayKind, type ReplayRow, type ReplayStep } from "./outbox/replay-engine.ts";
