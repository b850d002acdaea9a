import { serviceNames } from "@signalbox/core";
import { z } from "zod";
import { examples, timestamp } from "./fields.ts";

const service = z
  .enum(serviceNames)
  .describe("The service.")
  .meta({ examples: ["webhook-delivery"] });
const instance = z.string().describe("The id of the instance, new at each start.");
const seconds = (of: string) => z.number().nonnegative().describe(`Seconds ${of}.`);
const count = (of: string) => z.int().nonnegative().describe(of);
const version = z
  .string()
  .describe(
    "The version that was read. Send it as `If-Match`, in quotes, to have the request refused if the state changed in between.",
  );
const reason = z.string().describe("The failure, in one line.");
const eventType = z.string().nullable().describe("The event type; null for a message without a readable one.");

/** A running instance of a service. */
export const InstanceResource = z
  .object({
    service,
    instance,
    version: z.string().nullable().describe("The release that it runs; null when the deployment does not name one."),
    state: z.enum(["running", "draining"]).describe("`draining` once it was told to stop."),
    started_at: timestamp,
    applied_revision: z.string().describe("The last revision of the configuration that it applied."),
    lag_seconds: seconds("since the first revision that it has not applied; 0 when it has the newest"),
    last_seen_seconds: seconds("since it last reported; each reports once a minute"),
    pending_restart: z.array(z.string()).describe("Properties whose new value waits for a restart."),
  })
  .meta({ id: "Instance" })
  .register(examples, {
    example: {
      service: "images",
      instance: "images_7Qn2vLx0RbTf4HsYk8JmCw",
      version: "1.4.0",
      state: "running",
      started_at: "2026-01-01T09:00:00.000Z",
      applied_revision: "17",
      lag_seconds: 0,
      last_seen_seconds: 12,
      pending_restart: [],
    },
  });

/** A named worker of an instance, as it last reported. */
export const WorkerResource = z
  .object({
    service,
    instance,
    worker: z.string().describe("The name of the worker."),
    state: z.enum(["running", "waiting", "stopped", "gave up"]).describe("`waiting` for its restart after a failure."),
    restarts: count("Restarts after failures since the start of the instance."),
    last_beat_at: timestamp
      .nullable()
      .describe("When it last made progress; null for a worker whose progress is not monitored."),
    last_seen_seconds: seconds("since the instance reported this"),
  })
  .meta({ id: "Worker" })
  .register(examples, {
    example: {
      service: "images",
      instance: "images_7Qn2vLx0RbTf4HsYk8JmCw",
      worker: "outbox relay",
      state: "running",
      restarts: 0,
      last_beat_at: "2026-01-01T09:00:59.600Z",
      last_seen_seconds: 12,
    },
  });

/** A consumer group with its lag. */
export const ConsumerGroupResource = z
  .object({
    group: z.string().describe("The name of the group on the log."),
    service,
    messages: count("Messages on the log that the group has not handled."),
    seconds: seconds("that the oldest of them has waited"),
    topics: z
      .array(
        z.object({
          topic: z.string().describe("The name of the topic."),
          messages: count("Messages of the topic that the group has not handled."),
          seconds: seconds("that the oldest of them has waited"),
        }),
      )
      .describe("The lag by topic."),
    members: z
      .array(
        z.object({
          member: z.string().describe("The id of the member."),
          partitions: count("Partitions that it reads."),
        }),
      )
      .describe("The active members."),
    parked: z
      .object({
        messages: count("Messages that wait."),
        oldest_seconds: seconds("that the oldest has waited"),
      })
      .nullable()
      .describe("Messages that failed, and those behind them; null for a group without a database."),
  })
  .meta({ id: "ConsumerGroup" })
  .register(examples, {
    example: {
      group: "images.facts",
      service: "images",
      messages: 3,
      seconds: 0.8,
      topics: [{ topic: "signalbox.account.v1", messages: 3, seconds: 0.8 }],
      members: [{ member: "member_1aWxQEJJBJGA942NPfeyBg", partitions: 12 }],
      parked: { messages: 2, oldest_seconds: 41.5 },
    },
  });

/** The events of a service that wait to be published. */
export const OutboxResource = z
  .object({
    service,
    waiting: count("Events that wait for the log."),
    oldest_seconds: seconds("that the oldest has waited; 0 for none"),
    dead: count("Events that the log refused: see `dead-events`."),
  })
  .meta({ id: "Outbox" })
  .register(examples, { example: { service: "images", waiting: 2, oldest_seconds: 0.1, dead: 0 } });

const consumer = z.string().describe("The consumer group that could not handle the message.");

const messageShape = {
  id: z.string().describe("The id for actions on the message."),
  service,
  since: timestamp,
  topic: z.string().describe("The topic of the message."),
  key: z.string().describe("The key that orders the message among others, such as the id of its account or image."),
  event_id: z.string().nullable().describe("The id of the event; null for a message without a readable one."),
  event_type: eventType,
  reason,
  version,
};

const messagePlace = {
  partition: count("The partition of the message on its topic."),
  offset: z.string().describe("The offset of the message in its partition."),
};
const bytes = count("Size of the body.");

const messageExample = {
  service: "images" as const,
  since: "2026-01-01T09:00:00.000Z",
  topic: "signalbox.account.v1",
  key: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
  event_id: "0197a1c2-7b30-7c11-9d8e-2f1a5b6c7d8e",
  event_type: "account.deleted.v1",
  reason: "Error: the store does not answer",
  version: "ezDpvQr3twWEyUWXe5MQ28",
};

const deadLetterExample = {
  ...messageExample,
  id: "images.facts:signalbox.account.v1:3:1041",
  consumer: "images.facts",
  attempts: 4,
  partition: 3,
  offset: "1041",
  bytes: 412,
};
const deadEventExample = { ...messageExample, id: "images:0197a1c2-7b30-7c11-9d8e-2f1a5b6c7d8e", bytes: 412 };

/** A message that a consumer gave up. */
export const DeadLetterResource = z
  .object({
    ...messageShape,
    consumer,
    attempts: count("Tries before the consumer gave up."),
    ...messagePlace,
    bytes,
  })
  .meta({ id: "DeadLetter", description: "A message that a consumer gave up." })
  .register(examples, { example: deadLetterExample });

/** An event that the log refused for good. */
export const DeadEventResource = z
  .object({ ...messageShape, bytes })
  .meta({ id: "DeadEvent", description: "An event that the log refused for good." })
  .register(examples, { example: deadEventExample });

const parkedKeyExample = {
  ...messageExample,
  id: "images.facts:acc_5Yb0cPq7TnV2sKxW9mRdLh",
  consumer: "images.facts",
  attempts: 2,
  messages: 5,
  next_at: "2026-01-01T09:01:10.000Z",
};

/** A key whose first message failed, with the messages behind it. */
export const ParkedKeyResource = z
  .object({
    ...messageShape,
    consumer,
    attempts: count("Tries of the first message so far."),
    messages: count("Messages of the key with the first; counted up to 10,000."),
    next_at: timestamp.describe("When the first message is tried next."),
  })
  .meta({ id: "ParkedKey", description: "A key whose first message failed, with the messages behind it." })
  .register(examples, { example: parkedKeyExample });

/** A message that waits in the queue of a parked key; the first one blocks the others. */
export const ParkedMessageResource = z
  .object({
    id: z.string().describe("Its place in the queues of the service: a later message has a higher number."),
    since: timestamp.describe("When it was queued."),
    event_id: messageShape.event_id,
    event_type: eventType,
    topic: messageShape.topic,
    partition: messagePlace.partition,
    offset: messagePlace.offset,
    attempts: count("Tries so far; those behind the first have none."),
    bytes,
  })
  .meta({ id: "ParkedMessage", description: "A message that waits in the queue of a parked key." })
  .register(examples, {
    example: {
      id: "1042",
      since: messageExample.since,
      event_id: messageExample.event_id,
      event_type: messageExample.event_type,
      topic: messageExample.topic,
      partition: 3,
      offset: "1042",
      attempts: 0,
      bytes: 412,
    },
  });

/** The body of a message, for an operator. */
const decodedShape = {
  headers: z.record(z.string(), z.string()).describe("Headers of the message; values of unknown ones are masked."),
  body: z
    .unknown()
    .describe(
      "The event, masked: only numbers, ids, times and words of the catalogue are shown; a number that a double cannot represent is a string.",
    ),
};

const decodedExample = {
  headers: { ce_type: "account.deleted.v1", ce_subject: "acc_5Yb0cPq7TnV2sKxW9mRdLh" },
  body: { id: "acc_5Yb0cPq7TnV2sKxW9mRdLh", status: "deleted" },
};

export const DeadLetterDetail = z
  .object({ ...DeadLetterResource.shape, ...decodedShape })
  .meta({ id: "DeadLetterWithBody" })
  .register(examples, { example: { ...deadLetterExample, ...decodedExample } });
export const DeadEventDetail = z
  .object({ ...DeadEventResource.shape, ...decodedShape })
  .meta({ id: "DeadEventWithBody" })
  .register(examples, { example: { ...deadEventExample, ...decodedExample } });
export const ParkedKeyDetail = z
  .object({ ...ParkedKeyResource.shape, ...messagePlace, bytes, ...decodedShape })
  .meta({ id: "ParkedKeyWithBody" })
  .register(examples, {
    example: { ...parkedKeyExample, partition: 3, offset: "1041", bytes: 412, ...decodedExample },
  });

/** A backup, where the deployment names their folder. */
export const BackupResource = z
  .object({
    name: z.string().describe("The name of its folder."),
    taken_at: timestamp,
    age_seconds: seconds("since its moment"),
    release: z.string().describe("The release that wrote it."),
    bytes: z.int().describe("Sum of its files; those that it shares with another backup count too."),
    verified_at: timestamp.nullable().describe("When its checksums last matched; null for never."),
    restored_at: timestamp
      .nullable()
      .describe("When its databases were last restored on a scratch server; null for never."),
  })
  .meta({ id: "Backup" })
  .register(examples, {
    example: {
      name: "2026-01-05T030000Z",
      taken_at: "2026-01-05T03:00:00.000Z",
      age_seconds: 3_600,
      release: "1.4.0",
      bytes: 73_400_320,
      verified_at: "2026-01-05T03:01:10.000Z",
      restored_at: "2026-01-05T03:02:00.000Z",
    },
  });

const operationReason = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .describe("The reason, recorded in the audit log.")
  .meta({ examples: ["The image was deleted since."] });

const dryRun = z
  .boolean()
  .default(false)
  .describe("True for a dry run, which only reports what would happen.")
  .meta({ examples: [false] });

/** The input of an action that loses nothing. */
export const OperationInput = z.strictObject({ dry_run: dryRun }).meta({ id: "OperationInput" });

/** The input of an action that gives something up. */
export const OperationWithReasonInput = z
  .strictObject({ dry_run: dryRun, reason: operationReason })
  .meta({ id: "OperationWithReasonInput" });

/** The outcome of an action. */
export const operationOutcome = <Target extends z.ZodType>(target: Target, id: string) =>
  z
    .object({
      dry_run: z
        .boolean()
        .describe("True for a dry run, which changes nothing.")
        .meta({ examples: [false] }),
      done: z
        .boolean()
        .describe("False for a dry run.")
        .meta({ examples: [true] }),
      effect: z
        .string()
        .describe("What was done, or would be.")
        .meta({ examples: ["The message was removed for good."] }),
      target,
    })
    .meta({ id });

/** A service that did not answer; what the others answered is shown. */
export const UnavailableService = z
  .object({ service, message: z.string().describe("Why it did not respond.") })
  .meta({ id: "UnavailableService" })
  .register(examples, {
    example: { service: "images", message: "A service that this request needs does not respond." },
  });
