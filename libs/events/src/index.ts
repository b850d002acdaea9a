export type {
  ConsumerTable,
  Handler,
  HandlerContext,
  StatelessContext,
  StatelessHandler,
  StatelessTable,
} from "./consumer/consumer-table.ts";
export { type Consumer, type ConsumerOptions, createConsumer } from "./consumer/create-consumer.ts";
export { createDeadLetters, type DeadLetters, type DeadLettersOptions } from "./dead-letters/dead-letters.ts";
export { publishEvents } from "./envelope/publish-events.ts";
export { decodeEvent, eventNameOf, type ReceivedEvent, UnreadableMessage } from "./envelope/decode-event.ts";
export type {
  BroadcastOptions,
  BroadcastReader,
  EventLog,
  EventLogContext,
  LogRecord,
  PartitionLag,
  ReceivedBatch,
  ReceivedRecord,
  SubscribeOptions,
  Subscription,
  TopicPartition,
  TopicProblem,
  TopicSpec,
} from "./event-log.ts";
export { openEventLog } from "./open-event-log.ts";
export type { AppendOptions } from "./outbox/append-events.ts";
export { createOutbox, type Outbox, type OutboxOptions } from "./outbox/outbox.ts";
export { type EventsProperties, eventsProperties } from "./properties.ts";
export { PublishError, type PublishErrorReason } from "./publish-error.ts";
