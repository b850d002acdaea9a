import { DeadEventDetail, DeadEventResource, type ServiceName } from "@signalbox/contracts";
import { type DeadEvent, dropDeadEvent, findDeadEvent, listDeadEvents, replayDeadEvent } from "@signalbox/events";
import { ok, type Routes } from "@signalbox/http";
import { z } from "zod";
import { maskedMessage, namesOf } from "./message-view.ts";
import {
  noSuch,
  type OperatingParts,
  OperatingRange,
  operatingBase,
  operatorOf,
  type RecordRead,
  startOf,
  versionOf,
} from "./operating.ts";
import { addAction, changedMeanwhile, type OperatingAction } from "./operating-action.ts";

const collection = "dead-events";
const what = "dead event";

/** The events of a service that the log refused for good, for operators. Their ids are `<service>:<event id>`. */
export function addDeadEvents(routes: Routes, parts: OperatingParts, recordRead: RecordRead): void {
  const { pool, service } = parts;
  const prefix = `${service}:`;
  const eventIdOf = (id: string) => (id.startsWith(prefix) ? id.slice(prefix.length) : id);
  const find = (id: string) => findDeadEvent(pool, eventIdOf(id));
  const view = (event: DeadEvent) => viewDeadEvent(service, event);
  routes.get(`${operatingBase}${collection}`, {
    summary: "Events of this service that the log refused",
    auth: "anonymous",
    rateLimit: "none",
    query: OperatingRange,
    responses: { 200: z.object({ items: z.array(DeadEventResource) }) },
    async handle(input) {
      operatorOf(input, "operations:read");
      const { after, limit } = startOf(input.query);
      const start = { limit, after: after && { ...after, id: idAfter(prefix, after.id) } };
      return ok({ items: (await listDeadEvents(pool, start)).map(view) });
    },
  });
  routes.get(`${operatingBase}${collection}/:id`, {
    summary: "An event that the log refused, with its masked body",
    auth: "anonymous",
    audit: "dead_event.read",
    rateLimit: "none",
    responses: { 200: DeadEventDetail, 404: "error" },
    async handle(input) {
      const caller = operatorOf(input, "operations:read");
      const event = await find(input.params.id);
      if (event === null) throw noSuch(what);
      await recordRead(caller, { action: "dead_event.read", subject: `${prefix}${event.id}` });
      return ok({ ...view(event), ...maskedMessage(event.headers, event.value) });
    },
  });
  addAction<DeadEvent>(routes, parts, { collection, what, find, view, ...replay });
  addAction<DeadEvent>(routes, parts, { collection, what, find, view, ...drop });
}

/** The lists of all services are joined by time and whole id: an equal time of another service sorts by its name. */
function idAfter(prefix: string, after: string): string {
  if (after.startsWith(prefix)) return after.slice(prefix.length);
  return after < prefix ? "" : "~";
}

type Act = Omit<OperatingAction<DeadEvent>, "collection" | "what" | "find" | "view">;

const replay: Act = {
  audit: "dead_event.replay",
  needsReason: false,
  effect: () => "put back into the outbox, behind later events of its key",
  async change(tx, event) {
    if (!(await replayDeadEvent(tx, event))) throw changedMeanwhile();
  },
};

const drop: Act = {
  audit: "dead_event.drop",
  needsReason: true,
  effect: () => "removed for good",
  async change(tx, { id }) {
    if (!(await dropDeadEvent(tx, id))) throw changedMeanwhile();
  },
};

function viewDeadEvent(service: ServiceName, event: DeadEvent): z.output<typeof DeadEventResource> {
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
