/** The tests and drills that break the thing until an alert's expression holds in a real Prometheus, with the alerts. */
export const provedByBreak: Readonly<Record<string, readonly string[]>> = {
  "observe/edge-alerts.engines.test.ts": [
    "EdgeUnreachable",
    "EdgeErrors",
    "EdgeFull",
    "EdgeUnmeasured",
    "CertificateEnds",
    "CertificateWrong",
  ],
  "faults/faults.long.test.ts": ["CacheAway", "BlobsAway", "EventLogAway", "SubgraphFails", "EdgeAvailability"],
  "incidents/incidents.ts": ["ConsumerLag", "DeadLetters", "DiskFull", "ServiceDown", "ReplicasOutOfSync"],
  "observe/alerts.long.test.ts": [
    "AccessOutdated",
    "ConfigurationOutdated",
    "DatabaseBusy",
    "EventLoopBlocked",
    "ExporterDown",
    "MailsLate",
    "OutboxStuck",
    "ReceiversFail",
    "ServiceAbsent",
    "SourcesRefuse",
    "WebhooksOverdue",
    "WorkerStuck",
  ],
  "observe/work-alerts.long.test.ts": [
    "BackupOld",
    "EventsRefused",
    "ForbiddenTargets",
    "ImagesEndProcesses",
    "MessagesLost",
    "MessagesParked",
    "OutboxBloat",
    "Rebalances",
    "WorkerRestarts",
  ],
  "observe/slo-alerts.long.test.ts": ["EdgeLatency", "EventFreshness", "IngestAvailability", "WebhookArrival"],
  "observe/restart-alerts.long.test.ts": ["ClockOff", "FormerKeysInUse", "VersionsMixed", "OutboundProxyAway"],
  "observe/engine-alerts.long.test.ts": [
    "CacheFull",
    "DatabaseConnections",
    "DiskFills",
    "EngineDown",
    "LongTransaction",
  ],
  "observe/copy-alerts.long.test.ts": ["PartitionsOffline", "ReplicationBehind"],
};

/** Alerts whose rule is tried on made-up series only, by promtool, with the reason. */
export const provedByPromtool: Readonly<Record<string, string>> = {
  CanaryStopped: "canary.int.test.ts of webhook-delivery and libs/service stop it stage by stage and read the ages.",
  RequestsOverdue: "It takes a handler that never ends; broken-off.test.ts has one and reads the metric.",
  UnhandledRejections: "It takes a fault of ours; broken-off.test.ts and run-service.int.test.ts make one.",
  PartitionHalted: "It takes a hand on a broker's disk: kafka-codecs.engines.test.ts damages a batch there.",
  TopicReplaced: "The contract of the event log deletes topics and creates them again, and the ledger those of state.",
  ExporterAbsent: "It takes a Prometheus without a target, which is what the made-up series are.",
  Watchdog: "It always fires: there is nothing to break.",
};
