import { defineProperties, property } from "@signalbox/runtime";

/** The properties of the event log and of consumers. Imports nothing heavy: telemetry starts before kafkajs loads. */
export const eventsProperties = defineProperties({
  "events.url": property.string(
    {
      default: null,
      required: "events need a log: kafka://host:9092,host:9092, or postgres://… for one host",
      pattern: "^(kafka://.+|postgres(ql)?://.+|embedded:.*)$",
      secrecy: "secret",
    },
    "The event log: Apache Kafka, or a PostgreSQL database of its own. Options for Kafka: ?tls=true, with files ca, cert and key; sasl=plain, scram-sha-256 or scram-sha-512 for user:password@; or sasl=oauthbearer with token-url.",
  ),
  "events.message.max-bytes": property.integer(
    { default: 2_097_152, unit: "bytes", min: 1_024, max: 2_097_152 },
    "The largest event; a change whose event would be larger is refused. Topics accept twice that size.",
  ),
  "events.publish-timeout": property.integer(
    { default: 5_000, unit: "ms", min: 100, max: 20_000 },
    "Timeout of a publish, after which its events go back to the outbox; a database transaction is open meanwhile.",
  ),
  "events.outbox.idle-poll": property.integer(
    { default: 250, unit: "ms", min: 100, max: 500 },
    "Interval between polls of the outbox for events without a notification, such as those of a crashed instance.",
  ),
  "events.inbox.retention": property.integer(
    { default: 3_888_000_000, unit: "ms", min: 604_800_000, max: 31_536_000_000 },
    "Time for which a consumer remembers handled events; must be longer than topics and dead letters keep a message.",
  ),
});

/** The properties of the job that creates topics, besides the URL. */
export const topicsProperties = defineProperties({
  "events.topics.replication-factor": property.integer(
    { default: null, unit: "copies", min: 1, max: 10 },
    "Number of copies of every topic. Left out, the broker decides and nothing is checked. For `npm run topics`.",
  ),
  "events.topics.min-insync-replicas": property.integer(
    { default: null, unit: "copies", min: 1, max: 10 },
    "Copies that must have a record before it is acknowledged, set for every topic. Left out, the broker decides. For `npm run topics`.",
  ),
  "events.topics.partitions": property.list(
    { default: [] },
    "More partitions than declared for topics that are created, as signalbox.image.v1=24. An existing topic keeps its number. For `npm run topics`.",
  ),
  "events.topics.retention": property.list(
    { default: [] },
    "Time in ms for which topics keep messages, where it is not the declared one, as signalbox.image.v1=1209600000. Must be shorter than `events.inbox.retention`. For `npm run topics`.",
  ),
  "events.principals": property.string(
    { default: null, pattern: "User:.*\\{service\\}.*" },
    "Kafka principal of a service: User:signalbox-{service}, or User:CN={service} with certificates. `npm run topics` gives each exactly the rights that it needs. Left out, no rights are touched.",
  ),
  "events.watchers": property.list(
    { default: [] },
    "Kafka principals that may look at all topics and groups, such as those of an exporter or of KEDA: User:signalbox-exporter. `npm run topics` gives each exactly that right where `events.principals` is set.",
  ),
});
