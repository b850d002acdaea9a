import type { EventLog, EventLogContext } from "./event-log.ts";

export declare function openEventLog(url: string, context: EventLogContext): Promise<EventLog>;
