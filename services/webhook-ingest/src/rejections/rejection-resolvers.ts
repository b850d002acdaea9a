import { connectionField, mutation, type PageLimits, type Resolvers, refusalError } from "@signalbox/graphql";
import { z } from "zod";
import type { ReceivedStore } from "../receiving/received-store.ts";
import type { Rejection } from "./rejection.ts";
import { positionOfRejection, retryRefusal } from "./rejection-routes.ts";
import type { RejectionStore } from "./rejection-store.ts";
import type { RetryRejection } from "./retry-rejection.ts";

export interface RejectionFields {
  readonly rejectionStore: RejectionStore;
  readonly receivedStore: Pick<ReceivedStore, "findOwnMany">;
  readonly retryRejection: RetryRejection;
  readonly pageLimits: PageLimits;
}

const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;

/** GraphQL fields of refused webhooks. */
export function rejectionResolvers(fields: RejectionFields): Resolvers<unknown> {
  const { rejectionStore, receivedStore, retryRejection, pageLimits } = fields;
  return {
    WebhookSource: {
      rejections: connectionField(read, {
        limits: pageLimits,
        readMany: (range, sourceIds) => rejectionStore.list(sourceIds, range),
        parentId: ({ sourceId }: Rejection) => sourceId,
        position: positionOfRejection,
      }),
    },
    WebhookRejection: { kept: ({ isKept }: Rejection) => isKept },
    Mutation: {
      retryWebhookRejection: mutation(
        {
          ...{ ...write, audit: "webhook_source.retry_rejection", input: z.strictObject({}) },
          payload: (result: object | null) => result ?? { outcome: null, receivedWebhook: null },
        },
        async (_input, context, { sourceId, id }: { readonly sourceId: string; readonly id: string }) => {
          const { caller } = context;
          const result = await context.write({
            find: (tx) => rejectionStore.lock(tx, caller.accountId, sourceId, id),
            change: (tx, rejection) => retryRejection(tx, caller, rejection),
            missing: "There is no such rejection.",
          });
          if (result.outcome === "refused" || result.outcome === "not-kept") {
            throw refusalError({ code: "conflict", ...retryRefusal(result) });
          }
          const ids = result.receivedId === null ? [] : [result.receivedId];
          const [receivedWebhook = null] = await receivedStore.findOwnMany(caller.accountId, ids);
          return { outcome: result.outcome, receivedWebhook };
        },
      ),
    },
  };
}
