import { ConsumerGroupResource, OutboxResource } from "@signalbox/contracts";
import { parkedKeys, readOutboxState } from "@signalbox/events";
import { createRoutes, ok, type Routes } from "@signalbox/http";
import { z } from "zod";
import { actorOf, audited, sendingThrough } from "../audit/audit-entry.ts";
import { createAuditReads } from "../audit/audit-reads.ts";
import { clockRoutes } from "../clock/clock-sync.ts";
import { addDeadEvents } from "./dead-events.ts";
import { addDeadLetters } from "./dead-letters.ts";
import {
  type AnsweredGroup,
  type OperatingParts,
  operatingAuth,
  operatingBase,
  operatorOf,
  type RecordRead,
} from "./operating.ts";
import { addParkedKeys } from "./parked-keys.ts";

/**
 * Creates the routes by which the gateway asks a service for the operating state of what it owns: its time, its groups,
 * its outbox, and the messages that it could not handle or publish.
 */
export function operatingRoutes(parts: OperatingParts): Routes {
  const routes = createRoutes();
  const send = sendingThrough(parts);
  const reads = createAuditReads({ clock: parts.clock, write: ({ by, read }) => send(audited(by, read)) });
  const recordRead: RecordRead = (caller, read) => reads.record(actorOf(caller), read);
  routes.include(clockRoutes(parts.clock));
  addGroups(routes, parts);
  addOutbox(routes, parts);
  addDeadLetters(routes, parts, recordRead);
  addDeadEvents(routes, parts, recordRead);
  addParkedKeys(routes, parts, recordRead);
  return routes;
}

function addGroups(routes: Routes, parts: OperatingParts): void {
  routes.get(`${operatingBase}groups`, {
    summary: "Consumer groups of this service",
    ...operatingAuth,
    responses: { 200: z.object({ items: z.array(ConsumerGroupResource) }) },
    async handle(input) {
      operatorOf(input, "operations:read");
      return ok({ items: await Promise.all(parts.groups.map((group) => viewGroup(parts, group))) });
    },
  });
}

async function viewGroup(
  { eventLog, pool }: OperatingParts,
  { service, group, topics, parks }: AnsweredGroup,
): Promise<z.output<typeof ConsumerGroupResource>> {
  const [lags, members, parked] = await Promise.all([
    eventLog.lag(group, topics),
    eventLog.members(group),
    parks ? parkedKeys.depth(pool, group) : null,
  ]);
  const byTopic = topics.map((topic) => {
    const ofTopic = lags.filter((lag) => lag.topic === topic);
    const messages = ofTopic.reduce((sum, lag) => sum + lag.messages, 0);
    return { topic, messages, seconds: Math.max(0, ...ofTopic.map(({ seconds }) => seconds)) };
  });
  return {
    group,
    service,
    messages: byTopic.reduce((sum, { messages }) => sum + messages, 0),
    seconds: Math.max(0, ...byTopic.map(({ seconds }) => seconds)),
    topics: byTopic,
    members: members.map(({ member, partitions }) => ({ member, partitions })),
    parked: parked && { messages: parked.depth, oldest_seconds: Math.max(0, parked.age) },
  };
}

function addOutbox(routes: Routes, { service, pool }: OperatingParts): void {
  routes.get(`${operatingBase}outbox`, {
    summary: "The outbox of this service",
    ...operatingAuth,
    responses: { 200: z.object({ items: z.array(OutboxResource) }) },
    async handle(input) {
      operatorOf(input, "operations:read");
      const { waiting, age, dead } = await readOutboxState(pool);
      return ok({ items: [{ service, waiting, oldest_seconds: Math.max(0, age), dead }] });
    },
  });
}
