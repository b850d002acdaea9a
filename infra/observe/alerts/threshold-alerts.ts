import { serviceNames } from "@signalbox/core";
import { type Alert, page, ticket } from "./alert.ts";

/** The service of a consumer: `images.facts` is one of images. */
const serviceOfConsumer = '{{ reReplaceAll "[.].*" "" $labels.consumer }}';

/** True after the first of an hour: a series that begins with its first event does not increase by it. */
const anyOf = (counter: string, label = "consumer"): string =>
  `sum by (${label}) (increase(${counter}[1h])) > 0 or sum by (${label}) (${counter} unless ${counter} offset 1h) > 0`;

/** Builds the age of the youngest change of the canary that has passed a stage in a service. */
const youngest = (stage: string, service: string): string =>
  `min(signalbox_canary_age_seconds{service="${service}",stage="${stage}"})`;

/** Compares each age with that of the stage before, in seconds: more than the minute of the canary and two scrapes. */
const later = (age: string, labels: string, before: string): string =>
  `max by (${labels}) (${age}) - on () group_left () ${before} > 180`;

const appliedFrom = (topic: "access" | "config"): string =>
  `label_replace(signalbox_${topic}_canary_age_seconds, "stage", "applied from ${topic}", "", "")`;

/**
 * The stages at which the canary stands. Each is compared with the one before it, so that only the first that stands is
 * named, and a canary that is switched off, which is written nowhere, alerts nobody.
 */
const stoppedCanary = [
  'max by (service, stage) (signalbox_canary_age_seconds{stage="written"}) > 300',
  `max by (service, stage) (signalbox_canary_age_seconds{stage="relayed"})
    - on (service) group_left () max by (service) (signalbox_canary_age_seconds{stage="written"}) > 180`,
  later('signalbox_canary_age_seconds{stage="consumed"}', "service, stage", youngest("relayed", "account")),
  later('signalbox_canary_age_seconds{stage="delivered"}', "service, stage", youngest("consumed", "webhook-delivery")),
  later(appliedFrom("access"), "service, instance, stage", youngest("relayed", "account")),
  later(appliedFrom("config"), "service, instance, stage", youngest("relayed", "config")),
];

/** Alerts about causes that need attention before callers notice. */
export const thresholdAlerts: readonly Alert[] = [
  {
    name: "Watchdog",
    severity: "none",
    expr: "vector(1)",
    summary: "Always firing: when it stops, the alerts themselves are broken.",
  },
  page("ServiceDown", "2m", {
    expr: 'up{job="signalbox"} == 0',
    summary: "{{ $labels.instance }} does not answer a scrape.",
    console: "",
  }),
  page("ServiceAbsent", "5m", {
    expr: serviceNames.map((service) => `absent(signalbox_build_info{service="${service}"})`).join("\n  or "),
    summary: "No instance of {{ $labels.service }} is scraped: it has no pod, or Prometheus does not find it.",
    console: "",
  }),
  page("EventLogAway", "2m", {
    expr: "signalbox_event_log_up == 0",
    summary: "{{ $labels.service }} cannot publish to the event log.",
  }),
  page("OutboxStuck", "5m", {
    expr: "max by (service) (signalbox_outbox_age_seconds) > 60",
    summary: "The oldest event in the outbox of {{ $labels.service }} has waited for {{ $value | humanizeDuration }}.",
    console: "",
  }),
  ticket("OutboxBloat", "30m", {
    expr: "max by (service) (signalbox_outbox_uncleared_rows) > 1e6",
    summary: "The outbox of {{ $labels.service }} holds {{ $value | humanize }} dead rows: vacuum does not keep up.",
  }),
  ticket("BackupOld", "10m", {
    expr: "min(signalbox_backup_age_seconds) > 26 * 3600",
    summary: "The newest backup that was found whole is {{ $value | humanizeDuration }} old.",
  }),
  page("CanaryStopped", "2m", {
    expr: stoppedCanary.join("\n  or "),
    summary:
      "Changes of our own, one a minute, are no longer {{ $labels.stage }} by {{ $labels.service }}: {{ $value | humanizeDuration }} behind.",
  }),
  ticket("EventsRefused", "5m", {
    expr: "max by (service) (signalbox_outbox_dead_depth) > 0",
    summary: "The event log has refused {{ $value }} events of {{ $labels.service }} for good.",
    console: "/dead-events?service={{ $labels.service }}",
  }),
  page("EventsRefused", "5m", {
    expr: "max by (service) (signalbox_outbox_dead_depth) > 10",
    summary: "The event log refuses the events of {{ $labels.service }}: {{ $value }} wait to be put back.",
    console: "/dead-events?service={{ $labels.service }}",
  }),
  page("PartitionHalted", "1m", {
    expr: "sum by (consumer, topic) (signalbox_consumer_halted_partitions) > 0",
    summary: "{{ $labels.consumer }} cannot decode a batch of {{ $labels.topic }}: {{ $value }} partitions wait.",
    console: "",
  }),
  page("ConsumerLag", "5m", {
    expr: "max by (consumer) (signalbox_consumer_lag_seconds) > 300",
    summary: "{{ $labels.consumer }} is {{ $value | humanizeDuration }} behind.",
    console: "",
  }),
  page("MessagesLost", null, {
    expr: anyOf("signalbox_consumer_expired_total"),
    summary: "{{ $labels.consumer }} has lost messages: they expired before it handled them.",
    console: "",
  }),
  ticket("TopicReplaced", null, {
    expr: anyOf("signalbox_event_log_topics_replaced_total", "topic"),
    summary: "{{ $labels.topic }} was deleted and created again, or is in another cluster: its readers began again.",
    console: "",
  }),
  ticket("MessagesParked", "5m", {
    expr: "max by (consumer) (signalbox_parked_age_seconds) > 900",
    summary: "A message of {{ $labels.consumer }} has failed for {{ $value | humanizeDuration }}, and its key waits.",
    console: `/parked?service=${serviceOfConsumer}`,
  }),
  ticket("DeadLetters", null, {
    expr: anyOf("signalbox_dead_letters_total"),
    summary: "{{ $labels.consumer }} has given up messages.",
    console: `/dead-letters?service=${serviceOfConsumer}`,
  }),
  ticket("Rebalances", null, {
    expr: "sum by (consumer) (increase(signalbox_consumer_rebalances_total[15m])) > 20",
    summary: "{{ $labels.consumer }} reassigns its partitions again and again.",
    console: "",
  }),
  page("DatabaseBusy", "5m", {
    expr: 'max by (service, pool) (signalbox_database_connections{state="waiting"}) > 20',
    summary: "{{ $value }} statements of {{ $labels.service }} wait for a connection.",
  }),
  ticket("ClockOff", "2m", {
    expr: "abs(signalbox_clock_offset_seconds) > 5",
    summary: "The clock of {{ $labels.instance }} is off by {{ $value | humanizeDuration }}.",
    console: "",
  }),
  ticket("CacheAway", "5m", {
    expr: "signalbox_cache_up == 0",
    summary: "{{ $labels.service }} runs without its cache: limits count for each instance.",
  }),
  page("BlobsAway", "5m", {
    expr: 'sum by (service) (rate(signalbox_blob_seconds_count{outcome="away"}[5m])) > 0',
    summary: "{{ $labels.service }} cannot reach the object store.",
  }),
  page("AccessOutdated", "5m", {
    expr: "max by (service) (signalbox_access_states_age_seconds) > 60",
    summary: "{{ $labels.service }} has received no access states for {{ $value | humanizeDuration }}.",
  }),
  ticket("ConfigurationOutdated", "5m", {
    expr: "max by (service) (signalbox_config_age_seconds) > 600",
    summary: "{{ $labels.service }} has received no overrides for {{ $value | humanizeDuration }}.",
    console: "",
  }),
  page("WorkerStuck", "2m", {
    expr: "max by (service, worker) (signalbox_worker_silence_seconds) > 120",
    summary:
      "The worker {{ $labels.worker }} of {{ $labels.service }} has reported no progress for {{ $value | humanizeDuration }}.",
    console: "",
  }),
  ticket("WorkerRestarts", null, {
    expr: "sum by (service, worker) (increase(signalbox_worker_restarts_total[15m])) > 5",
    summary: "The worker {{ $labels.worker }} of {{ $labels.service }} fails repeatedly and is restarted.",
    console: "",
  }),
  ticket("UnhandledRejections", null, {
    expr: "sum by (service) (increase(signalbox_unhandled_rejections_total[1h])) > 0",
    summary:
      "Requests of {{ $labels.service }} were ended because a promise of theirs was rejected and nobody awaited it.",
    console: "",
  }),
  ticket("RequestsOverdue", "5m", {
    expr: "max by (service) (signalbox_http_overdue_seconds) > 120",
    summary:
      "A request of {{ $labels.service }} has run for {{ $value | humanizeDuration }} past its deadline or without its client.",
    console: "",
  }),
  page("WebhooksOverdue", "5m", {
    expr: "max(signalbox_webhook_due_age_seconds) > 120",
    summary: "The oldest due delivery has waited for {{ $value | humanizeDuration }}.",
  }),
  ticket("ReceiversFail", "30m", {
    expr: `sum(rate(signalbox_webhook_attempts_total{answer!="2xx"}[30m])) / sum(rate(signalbox_webhook_attempts_total[30m])) > 0.5
  and sum(increase(signalbox_webhook_attempts_total[30m])) >= 20`,
    summary: "{{ $value | humanizePercentage }} of all delivery attempts fail.",
  }),
  ticket("SourcesRefuse", "10m", {
    expr: "max(signalbox_webhook_sources_mostly_refused) > 0",
    summary: "Most webhooks of {{ $value }} sources are refused: a secret is wrong, or someone sends forgeries.",
  }),
  ticket("ForbiddenTargets", null, {
    expr: 'sum by (service) (increase(signalbox_outbound_seconds_count{outcome="forbidden"}[1h])) > 100',
    summary: "Callers of {{ $labels.service }} have named {{ $value }} internal addresses in an hour.",
  }),
  page("OutboundProxyAway", "5m", {
    expr: 'sum by (service) (rate(signalbox_outbound_seconds_count{outcome="proxy"}[5m])) > 0',
    summary: "Requests through the outbound proxy of {{ $labels.service }} fail: nothing is delivered through it.",
  }),
  ticket("ImagesEndProcesses", null, {
    expr: 'sum by (service) (increase(signalbox_image_job_seconds_count{outcome=~"crashed|out-of-memory|too-slow|interrupted"}[1h])) > 20',
    summary: "{{ $value }} images have crashed the process that decoded them within an hour.",
  }),
  page("SubgraphFails", "5m", {
    expr: `sum by (subgraph) (rate(signalbox_graphql_fetch_seconds_count{outcome=~"unavailable|fault"}[5m]))
  / sum by (subgraph) (rate(signalbox_graphql_fetch_seconds_count[5m])) > 0.05
  and sum by (subgraph) (increase(signalbox_graphql_fetch_seconds_count{outcome=~"unavailable|fault"}[5m])) >= 5`,
    summary: "{{ $value | humanizePercentage }} of the fetches from {{ $labels.subgraph }} fail.",
  }),
  page("MailsLate", "5m", {
    expr: "max(signalbox_mail_oldest_seconds) > 900",
    summary:
      "A mail has waited for {{ $value | humanizeDuration }}: addresses cannot be confirmed and accounts cannot be recovered.",
  }),
  ticket("FormerKeysInUse", "1h", {
    expr: "max by (service) (signalbox_sealed_with_former_keys) > 0",
    summary: "{{ $value }} texts of {{ $labels.service }} can only be opened with a former sealing key.",
  }),
  ticket("EventLoopBlocked", "5m", {
    expr: "max by (instance) (nodejs_eventloop_lag_p99_seconds) > 0.5",
    summary: "{{ $labels.instance }} delays every request by {{ $value | humanizeDuration }}.",
  }),
  ticket("VersionsMixed", "2h", {
    expr: "count(count by (version, commit) (signalbox_build_info)) > 1",
    summary: "{{ $value }} versions have run in parallel for two hours: a rollout did not finish.",
    console: "",
  }),
];
