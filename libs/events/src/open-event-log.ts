import type { EventLog, EventLogContext } from "./log/event-log.ts";

/**
 * Opens the event log of the URL: `kafka://host:port,host:port`, or `postgres://…` for a database of its own, which is
 * created and migrated when it is absent. An absent Kafka is no error here: publishing and reading wait for it.
 */
export async function openEventLog(url: string, context: EventLogContext): Promise<EventLog> {
  const eventLog = await open(url, context);
  context.metrics.gauge("signalbox_event_log_up", (gauge) => gauge.set({}, eventLog.health() === null ? 1 : 0));
  context.runner?.defer("event log", () => eventLog.close());
  return eventLog;
}

/** Loads the client of an adapter on first use: an embedded installation never loads kafkajs. */
async function open(url: string, context: EventLogContext): Promise<EventLog> {
  const scheme = url.slice(0, url.indexOf("//"));
  switch (scheme) {
    case "kafka:":
      return (await import("./kafka/kafka-event-log.ts")).createKafkaEventLog(url, context);
    case "postgres:":
    case "postgresql:":
      return (await import("./postgres/postgres-event-log.ts")).openPostgresEventLog(url, context);
    default:
      throw new Error(`events.url must begin with kafka:// or postgres://, not ${scheme}//`);
  }
}
