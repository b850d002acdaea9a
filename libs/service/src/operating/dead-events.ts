import { DeadEventDetail, DeadEventResource } from "@signalbox/contracts";
import type { ServiceName } from "@signalbox/core";
import { deadEvents } from "@signalbox/events";
import type { Routes } from "@signalbox/http";
import type { z } from "zod";
import { maskedMessage, namesOf } from "./message-view.ts";
import { type OperatingParts, type RecordRead, startOf, versionOf } from "./operating.ts";
import {
  addBodyRead,
  addStuckMessages,
  changedMeanwhile,
  type OperatingAction,
  type StuckMessages,
} from "./stuck-messages.ts";

/** The events of a service that the log refused for good, for operators. Their ids are `<service>:<event id>`. */
export function addDeadEvents(routes: Routes, parts: OperatingParts, recordRead: RecordRead): void {
  const { pool, service } = parts;
  const prefix = `${service}:`;
  const view = (event: deadEvents.DeadEvent) => viewDeadEvent(service, event);
  const kind: StuckMessages<deadEvents.DeadEvent, typeof DeadEventResource> = {
    collection: "dead-events",
    what: "dead event",
    summary: "Events of this service that the log refused",
    resource: DeadEventResource,
    async list(range) {
      const { after, limit } = startOf(range);
      const start = { limit, after: after && { ...after, id: idAfter(prefix, after.id) } };
      return (await deadEvents.list(pool, start)).map(view);
    },
    find: (id) => deadEvents.find(pool, id.startsWith(prefix) ? id.slice(prefix.length) : id),
    view,
    actions: [replay, drop],
  };
  addStuckMessages(routes, parts, kind);
  addBodyRead(routes, kind, {
    summary: "An event that the log refused, with its masked body",
    detail: DeadEventDetail,
    audit: "dead_event.read",
    recordRead,
    content: ({ headers, value }) => maskedMessage(headers, value),
  });
}

/** The lists of all services are joined by time and whole id: an equal time of another service sorts by its name. */
function idAfter(prefix: string, after: string): string {
  if (after.startsWith(prefix)) return after.slice(prefix.length);
  return after < prefix ? "" : "~";
}

const replay: OperatingAction<deadEvents.DeadEvent> = {
  audit: "dead_event.replay",
  needsReason: false,
  effect: () => "put back into the outbox, behind later events of its key",
  async change(tx, event) {
    if (!(await deadEvents.replay(tx, event))) throw changedMeanwhile();
  },
};

const drop: OperatingAction<deadEvents.DeadEvent> = {
  audit: "dead_event.drop",
  needsReason: true,
  effect: () => "removed for good",
  async change(tx, { id }) {
    if (!(await deadEvents.drop(tx, id))) throw changedMeanwhile();
  },
};

function viewDeadEvent(service: ServiceName, event: deadEvents.DeadEvent): z.output<typeof DeadEventResource> {
  const { id, time, topic, key, headers, reason, value } = event;
  return {
    id: `${service}:${id}`,
    service,
    since: time.toISOString(),
    topic,
    key,
    ...namesOf(headers, reason),
    version: versionOf(id, time.getTime()),
    bytes: value?.length ?? 0,
  };
}
