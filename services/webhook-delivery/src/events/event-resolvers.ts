import {
  connectionField,
  filterFrom,
  mutation,
  type PageLimits,
  type Resolvers,
  refusalError,
} from "@signalbox/graphql";
import { z } from "zod";
import { CustomEventBody, eventFilter, eventsMax, refusedPublication } from "./event-routes.ts";
import { type EventStore, readerOf, type StoredEvent } from "./event-store.ts";
import type { Events } from "./events.ts";

export interface EventFields {
  readonly events: Events;
  readonly eventStore: EventStore;
  readonly pageLimits: PageLimits;
}

const Filter = z.strictObject(eventFilter);
const PublishInput = z.strictObject({ events: z.array(CustomEventBody).min(1).max(eventsMax) });

/** GraphQL fields of the events of an account. */
export function eventResolvers({ events, eventStore, pageLimits }: EventFields): Resolvers<unknown> {
  return {
    Account: {
      webhookEvents: connectionField(
        { scopes: ["webhooks:read"], ownOnly: true },
        {
          limits: pageLimits,
          read: (range, _account, { caller }, args: object) =>
            eventStore.list(readerOf(caller), filterFrom(Filter, args), range),
        },
      ),
    },
    WebhookEvent: { body: ({ body }: StoredEvent) => body.toString("utf8") },
    Mutation: {
      publishWebhookEvents: mutation(
        { scopes: ["events:publish"], audit: "webhook_event.publish", input: withEvents, payload: "published" },
        async ({ events: given }, { caller, inTransaction }) => {
          const result = await inTransaction(
            (tx, checked) => events.publish(tx, caller, given, checked),
            () => events.check(caller, given),
          );
          if (result.outcome === "published") return result.published;
          const { details = [], ...refusal } = refusedPublication(result, true);
          throw refusalError({ ...refusal, details: details.map((one) => ({ ...one, field: `events${one.field}` })) });
        },
      ),
    },
  };
}

/** Rules of the input. `data` is the caller's own JSON: its names stay as written. */
async function withEvents(_context: unknown, given: object): Promise<typeof PublishInput> {
  const list = (given as { readonly events?: readonly Record<string, unknown>[] }).events ?? [];
  const events = list.map(({ createdAt, ...rest }) => ({
    ...rest,
    ...(createdAt != null && { created_at: createdAt }),
  }));
  const plain: unknown = JSON.parse(JSON.stringify({ events }));
  return z.preprocess(() => plain, PublishInput) as unknown as typeof PublishInput;
}
