import {
  connectionField,
  mutation,
  type PageLimits,
  type Resolvers,
  refusalError,
  type SubgraphContext,
} from "@signalbox/graphql";
import { rangeOf } from "@signalbox/http";
import { z } from "zod";
import { refusedType } from "../refusals.ts";
import { CreateEventTypeBody, placeOfType, serviceTypes, UpdateEventTypeBody, viewType } from "./event-type-routes.ts";
import type { EventTypeStore } from "./event-type-store.ts";
import type { EventTypes } from "./event-types.ts";

export interface EventTypeFields {
  readonly eventTypes: EventTypes;
  readonly eventTypeStore: EventTypeStore;
  readonly pageLimits: PageLimits;
}

interface Named {
  readonly name: string;
}

const write = { scopes: ["webhooks:write"] } as const;
const payload = "webhookEventType";
const missing = "There is no such type.";

/** GraphQL fields of event types: those of the service, and the account's own. */
export function eventTypeResolvers({ eventTypes, eventTypeStore, pageLimits }: EventTypeFields): Resolvers<unknown> {
  return {
    Account: {
      webhookEventTypes: connectionField(
        { scopes: ["webhooks:read"], ownOnly: true },
        {
          limits: pageLimits,
          async read(range, { id }: { readonly id: string }) {
            const own = (await eventTypeStore.list(id)).map(viewType);
            return rangeOf([...own, ...serviceTypes], range, placeOfType);
          },
          position: placeOfType,
        },
      ),
    },
    WebhookEventType: { enforcementReason: (type: ReturnType<typeof viewType>) => type.enforcement_reason },
    Mutation: {
      createWebhookEventType: mutation(
        { ...write, audit: "webhook_event_type.create", input: withRawMembers(CreateEventTypeBody, "schema"), payload },
        async (input, { caller, inTransaction }) => {
          const result = await inTransaction(
            (tx) => eventTypes.create(tx, caller, input),
            () => eventTypes.requireUsable(caller, input),
          );
          if (result.outcome !== "created") throw refusalError(refusedType(result));
          return viewType(result.type);
        },
      ),
      updateWebhookEventType: mutation(
        { ...write, audit: "webhook_event_type.update", input: withRawMembers(UpdateEventTypeBody, "schema"), payload },
        async (input, context, { name }: Named) =>
          viewType(
            await context.write({
              prepare: () => eventTypes.requireUsable(context.caller, input),
              find: (tx) => eventTypeStore.lock(tx, context.caller.accountId, name),
              change: (tx, type) => eventTypes.update(tx, context.caller, type, input),
              missing,
            }),
          ),
      ),
      deleteWebhookEventType: mutation(
        {
          ...{ ...write, audit: "webhook_event_type.delete", input: z.strictObject({}) },
          payload: "deletedWebhookEventTypeName",
        },
        async (_input, context, { name }: Named) => {
          await context.write({
            find: (tx) => eventTypeStore.lock(tx, context.caller.accountId, name),
            change: (tx, type) => eventTypes.delete(tx, context.caller, type),
            missing,
          });
          return name;
        },
      ),
    },
  };
}

/**
 * Rules of an input with members that are the caller's own JSON: their names stay as written, while the others get the
 * names of REST.
 */
const withRawMembers =
  <Output>(rules: z.ZodType<Output>, ...names: readonly string[]) =>
  async (_context: SubgraphContext<unknown>, given: object): Promise<z.ZodType<Output>> =>
    z.preprocess((input) => {
      const raw = names.filter((name) => name in given).map((name) => [name, jsonOf(given, name)]);
      return { ...(input as object), ...Object.fromEntries(raw) };
    }, rules);

/** Makes a plain copy: GraphQL literals have objects without a prototype, which strict rules refuse. */
function jsonOf(given: object, name: string): unknown {
  const value = (given as Record<string, unknown>)[name];
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
