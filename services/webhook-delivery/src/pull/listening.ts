import type { Caller } from "@signalbox/auth";
import { examples } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { created } from "@signalbox/http";
import { audited, operation, systemActor, tooMany } from "@signalbox/service";
import { inTransaction, type Pool, sql, type Tx } from "@signalbox/storage";
import { z } from "zod";
import { endpointDeleted, eventTypes } from "../endpoints/endpoint.ts";
import { EndpointWithSecret } from "../endpoints/endpoint-secrets.ts";
import { SettingsBody } from "../endpoints/endpoint-settings.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { EndpointViews } from "../endpoints/endpoint-view.ts";
import type { Endpoints } from "../endpoints/endpoints.ts";
import { listeningGraceMs } from "./pull-messages.ts";

interface ListeningDependencies {
  readonly pool: Pool;
  readonly endpoints: Pick<Endpoints, "create">;
  readonly endpointStore: Pick<EndpointStore, "lockById" | "remove">;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
}

/** Input of an endpoint for listening. */
const ListenBody = z
  .strictObject({
    event_types: eventTypes.default(["*"]),
    settings: SettingsBody.pick({ filter: true, format: true, signatures: true })
      .optional()
      .describe("Which events it gets, and how their messages look."),
  })
  .meta({ id: "ListenToWebhooks" })
  .register(examples, { example: { event_types: ["image.*"] } });

/** Another instance may have moved the end meanwhile, so that it is judged again under the lock. */
const isOver = "ends_at < statement_timestamp() and deleted_at is null";
const findEnded = sql("listening.find-ended", `select id from endpoints where ${isOver} order by ends_at limit 16`);
const hasEnded = sql("listening.has-ended", `select from endpoints where id = $1 and ${isOver}`);

export type Listening = ReturnType<typeof createListening>;

/** Creates the operations on endpoints for listening, which are for development: they end with their last listener. */
export function createListening({ pool, endpoints, endpointStore, outbox, clock }: ListeningDependencies) {
  async function endOne(tx: Tx, id: string): Promise<void> {
    const endpoint = await endpointStore.lockById(tx, id);
    if (endpoint === null || (await tx.query(hasEnded, [id])).rowCount === 0) return;
    await endpointStore.remove(tx, id, clock.now());
    const { accountId } = endpoint;
    const entry = audited(systemActor("delivery"), { action: "webhook_endpoint.delete", accountId, subject: id });
    await outbox.append(tx, [endpointDeleted(endpoint), entry]);
  }

  return {
    /** Creates a pull endpoint that ends unless its messages are taken. */
    start: (tx: Tx, caller: Caller, { event_types, settings }: z.output<typeof ListenBody>) =>
      endpoints.create(tx, caller, {
        type: "pull",
        description: "Listening",
        eventTypes: event_types,
        scope: "account",
        settings,
        endsAt: new Date(clock.nowMs() + listeningGraceMs),
      }),

    /** Deletes endpoints whose listeners have gone. */
    async endStep(): Promise<void> {
      const { rows } = await pool.query<{ id: string }>(findEnded);
      for (const { id } of rows) await inTransaction(pool, (tx) => endOne(tx, id));
    },
  };
}

/** Declares the start of listening. The graph has no use for an endpoint that ends with a stream. */
export const declareListening = (
  listening: Pick<Listening, "start">,
  { describeIn, view }: Pick<EndpointViews, "describeIn" | "view">,
) => ({
  listenToWebhooks: operation({
    summary: "Listen to events for a while",
    description:
      "Creates a pull endpoint for development. It is deleted 60 s after its last stream or poll, the first of which has as much time. The answer shows its secret, once.",
    auth: { scopes: ["webhooks:write"] },
    audit: "webhook_endpoint.create",
    input: ListenBody,
    create: async (tx, { caller, input }) => describeIn(tx, await listening.start(tx, caller, input)),
    refusals: {
      "switched-off": { code: "forbidden", message: "Webhook endpoints are switched off." },
      "limit-reached": ({ max }) =>
        tooMany("endpoints", `The account has ${max} endpoints; delete one that is not needed.`),
    },
    rest: {
      post: "/api/v1/webhooks/endpoints/listen",
      responses: { 201: EndpointWithSecret },
      answer: ({ endpoint, secret }) =>
        created(`/api/v1/webhooks/endpoints/${endpoint.id}`, { ...view(endpoint), secret }),
    },
  }),
});
