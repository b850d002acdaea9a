import { examples } from "@signalbox/contracts";
import { created } from "@signalbox/http";
import { audited, operation, systemActor } from "@signalbox/service";
import { inTransaction, sql, type Tx } from "@signalbox/storage";
import { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import { endpointDeleted, eventTypes } from "../endpoints/endpoint.ts";
import { EndpointWithSecret } from "../endpoints/endpoint-secrets.ts";
import { SettingsBody } from "../endpoints/endpoint-settings.ts";
import { lockEndpointById, removeEndpoint } from "../endpoints/endpoint-store.ts";
import { describeOutcome, endpointInFull } from "../endpoints/endpoint-view.ts";
import { createEndpoint, createRefusals } from "../endpoints/endpoints.ts";
import { listeningGraceMs } from "./pull-messages.ts";

const ListenBody = z
  .strictObject({
    event_types: eventTypes.default(["*"]),
    settings: SettingsBody.pick({ filter: true, format: true, signatures: true })
      .optional()
      .describe("The events it receives, and the format of their messages."),
  })
  .meta({ id: "ListenToWebhooks" })
  .register(examples, { example: { event_types: ["image.*"] } });

/** Another instance may have moved the end meanwhile, so that it is judged again under the lock. */
const isOver = "ends_at < statement_timestamp() and deleted_at is null";
const findEnded = sql("listening.find-ended", `select id from endpoints where ${isOver} order by ends_at limit 16`);
const hasEnded = sql("listening.has-ended", `select from endpoints where id = $1 and ${isOver}`);

export async function endListening(service: DeliveryService): Promise<void> {
  const { rows } = await service.pool.query<{ id: string }>(findEnded);
  for (const { id } of rows) await inTransaction(service.pool, (tx) => endOne(service, tx, id));
}

async function endOne({ clock, outbox }: DeliveryService, tx: Tx, id: string): Promise<void> {
  const endpoint = await lockEndpointById(tx, id);
  if (endpoint === null || (await tx.query(hasEnded, [id])).rowCount === 0) return;
  await removeEndpoint(tx, id, clock.now());
  const { accountId } = endpoint;
  const entry = audited(systemActor("delivery"), { action: "webhook_endpoint.delete", accountId, subject: id });
  await outbox.append(tx, [endpointDeleted(endpoint), entry]);
}

/** Declares the start of listening. The graph has no use for an endpoint that ends with a stream. */
export const declareListening = (service: DeliveryService) => ({
  listenToWebhooks: operation({
    summary: "Create a temporary listening endpoint",
    description:
      "Creates a pull endpoint for development. It is deleted 60 s after its last stream or poll, or if none starts within 60 s. The answer shows its secret once.",
    auth: { scopes: ["webhooks:write"] },
    audit: "webhook_endpoint.create",
    input: ListenBody,
    async create(tx, { caller, input: { event_types: eventTypes, settings } }) {
      const endsAt = new Date(service.clock.nowMs() + listeningGraceMs);
      const shared = { type: "pull", description: "Listening", scope: "account" } as const;
      const made = await createEndpoint(service, tx, caller, { ...shared, eventTypes, settings, endsAt });
      return describeOutcome(service, tx, caller, made);
    },
    refusals: createRefusals,
    rest: {
      post: "/api/v1/webhooks/endpoints/listen",
      responses: { 201: EndpointWithSecret },
      answer: ({ endpoint, secret }) =>
        created(`/api/v1/webhooks/endpoints/${endpoint.id}`, { ...endpointInFull(service, endpoint), secret }),
    },
  }),
});
