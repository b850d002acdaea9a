import { histogramQuantile, perSecond, type Row } from "./board.ts";

const s = 'service=~"$service"';

/** Shows what every service has of its database, cache and mails. */
export const databaseRow: Row = {
  title: "Database",
  panels: [
    {
      title: "Connections, by state",
      unit: "short",
      queries: [
        {
          expr: `sum by (service, state) (signalbox_database_connections{${s}})`,
          legend: "{{service}} {{state}}",
        },
      ],
    },
    {
      title: "Wait for a connection, p99",
      unit: "s",
      queries: [{ expr: histogramQuantile(0.99, "signalbox_database_wait_seconds", s), legend: "p99" }],
    },
    {
      title: "Cache calls per second, by outcome",
      unit: "cps",
      queries: [{ expr: `sum by (outcome) (${perSecond("signalbox_cache_calls_total", s)})`, legend: "{{outcome}}" }],
    },
    {
      title: "Oldest mail that waits",
      alert: "MailsLate",
      unit: "s",
      queries: [{ expr: "max(signalbox_mail_oldest_seconds)", legend: "mail" }],
    },
    {
      title: "Age of the newest backup that was found whole",
      alert: "BackupOld",
      unit: "s",
      queries: [{ expr: "min(signalbox_backup_age_seconds)", legend: "backup" }],
    },
    {
      title: "Principals, by source",
      unit: "cps",
      queries: [{ expr: `sum by (outcome) (${perSecond("signalbox_principals_total", s)})`, legend: "{{outcome}}" }],
    },
  ],
};

/** Shows the processes themselves. */
export const nodeRow: Row = {
  title: "Node",
  panels: [
    {
      title: "Delay of the event loop, p99",
      unit: "s",
      queries: [{ expr: "max by (instance) (nodejs_eventloop_lag_p99_seconds)", legend: "{{instance}}" }],
    },
    {
      title: "Resident memory",
      description: "Memory that the operating system counts for the process.",
      unit: "bytes",
      queries: [{ expr: "max by (instance) (process_resident_memory_bytes)", legend: "{{instance}}" }],
    },
    {
      title: "Processor, cores",
      description: "Processor time in a second, of all threads.",
      unit: "short",
      queries: [{ expr: `sum by (instance) (${perSecond("process_cpu_seconds_total")})`, legend: "{{instance}}" }],
    },
    {
      title: "Versions; silence of workers",
      unit: "short",
      queries: [
        { expr: "count by (version) (signalbox_build_info)", legend: "{{version}}" },
        { expr: "max by (service) (signalbox_worker_silence_seconds)", legend: "{{service}} silent, s" },
      ],
    },
  ],
};
