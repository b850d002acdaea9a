export type {
  ConsumerTable,
  Handler,
  HandlerContext,
  StatelessContext,
  StatelessHandler,
  StatelessTable,
} from "./consumer/consumer-table.ts";
export { type Consumer, type ConsumerOptions, createConsumer } from "./consumer/create-consumer.ts";
export type { DeadLetter } from "./dead-letters/dead-letter.ts";
export { createDeadLetters, type DeadLetters, type DeadLettersOptions } from "./dead-letters/dead-letters.ts";
export { dropDeadLetter, listDeadLetters, replayDeadLetter } from "./dead-letters/inspect-dead-letters.ts";
export { decodeEvent, eventNameOf, type ReceivedEvent, UnreadableMessage } from "./envelope/decode-event.ts";
export { publishEvents } from "./envelope/publish-events.ts";
export {
  type BroadcastOptions,
  type BroadcastReader,
  type EventLog,
  type EventLogContext,
  type LogRecord,
  type PartitionLag,
  type ReceivedBatch,
  type ReceivedRecord,
  type SubscribeOptions,
  type Subscription,
  type TopicPartition,
  type TopicProblem,
  type TopicSpec,
  UnknownTopic,
} from "./event-log.ts";
export { eventsMigrations } from "./migrations.ts";
export { openEventLog } from "./open-event-log.ts";
export type { AppendOptions } from "./outbox/append-events.ts";
export { createOutbox, type Outbox, type OutboxOptions } from "./outbox/outbox.ts";
export { type EventsProperties, eventsProperties } from "./properties.ts";
export { PublishError, type PublishErrorReason } from "./publish-error.ts";
