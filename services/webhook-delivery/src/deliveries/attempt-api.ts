import { connectionField, cursorMark, filterFrom, type Resolvers, timeParameter } from "@signalbox/http";
import { type Edges, edgesOf, type Load, list } from "@signalbox/service";
import { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import { type Attempt, AttemptResource, viewAttempt } from "./attempt.ts";
import type { Delivery } from "./delivery.ts";
import { type AttemptFilter, listAttempts, statusClasses } from "./delivery-store.ts";

const read = { scopes: ["webhooks:read"], portal: true } as const;

export const timeFilter = {
  from: timeParameter().optional().describe("From this time on."),
  to: timeParameter().optional().describe("Before this time."),
};
const resultFilter = {
  status_class: z.enum(statusClasses).optional().describe("Only attempts with this status; `none` for no response."),
  error: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional()
    .describe("Only attempts with this error, a stable code such as `ECONNREFUSED`."),
  type: z.string().max(200).optional().describe("The name of an event type, or a prefix that ends in `*`."),
  ...timeFilter,
};
const attemptFilter = {
  endpoint_id: z.string().max(128).optional().describe("Only attempts to this endpoint."),
  delivery_id: z.string().max(128).optional().describe("Only attempts of this delivery."),
  result: z
    .enum(["succeeded", "failed"])
    .optional()
    .describe("Only attempts with this result: `succeeded` means acknowledged."),
  ...resultFilter,
};

const OfParent = z.strictObject({ ...resultFilter, succeeded: z.boolean().optional() });
type Given = z.output<z.ZodObject<typeof attemptFilter>>;

const filterOf = ({ endpoint_id, delivery_id, result, status_class: statusClass, ...rest }: Given): AttemptFilter => ({
  ...rest,
  endpointId: endpoint_id,
  deliveryId: delivery_id,
  succeeded: result && result === "succeeded",
  statusClass,
});
const positionOfAttempt = ({ startedAt: at, id }: Attempt) => ({ at, id });

export function attemptApi({ pool, pageLimits }: DeliveryService, loadDelivery: Load<Delivery>): Edges {
  const attemptsOf = (parent: "endpointId" | "deliveryId") =>
    connectionField<{ readonly id: string }, object, Attempt>(read, {
      limits: pageLimits,
      read: (range, { id }, { caller }, args) => {
        const { status_class: statusClass, ...filter } = filterFrom(OfParent, args);
        return listAttempts(pool, caller, { ...filter, statusClass, [parent]: id }, range);
      },
      position: positionOfAttempt,
      mark: (args) => cursorMark(`attempts of ${parent}`, filterFrom(OfParent, args)),
    });
  const fields: Resolvers = {
    WebhookEndpoint: { attempts: attemptsOf("endpointId") },
    WebhookDelivery: { attemptLog: attemptsOf("deliveryId") },
    WebhookAttempt: {
      phases: ({ exchange }: Attempt) => exchange?.phases ?? null,
      requestHeaders: ({ exchange }: Attempt) => exchange?.requestHeaders ?? null,
      responseHeaders: ({ exchange }: Attempt) => exchange?.responseHeaders ?? null,
      delivery: ({ deliveryId }: Attempt, _, context) => loadDelivery(context, deliveryId),
    },
  };
  return edgesOf(
    {
      webhookAttempts: list({
        summary: "List attempts, newest first",
        description: "An attempt is one request to an endpoint, with status, error and times.",
        auth: read,
        limits: pageLimits,
        filter: attemptFilter,
        read: (range, { caller, filter }) => listAttempts(pool, caller, filterOf(filter), range),
        position: positionOfAttempt,
        rest: { get: "/api/v1/webhooks/attempts", item: AttemptResource, view: viewAttempt },
      }),
    },
    { fields },
  );
}
