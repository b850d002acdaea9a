import { connectionField, mutation, type PageLimits, type Resolvers, refusalError } from "@signalbox/graphql";
import { z } from "zod";
import type { SourceStore } from "../sources/source-store.ts";
import type { Replay } from "./replay.ts";
import { CreateReplayBody, newReplayOf, replayRefusal } from "./replay-routes.ts";
import type { Replays } from "./replays.ts";

export interface ReplayFields {
  readonly sourceStore: Pick<SourceStore, "lock">;
  readonly replays: Replays;
  readonly pageLimits: PageLimits;
}

interface OfSource {
  readonly sourceId: string;
}

const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;

/** GraphQL fields of replays. */
export function replayResolvers({ sourceStore, replays, pageLimits }: ReplayFields): Resolvers<unknown> {
  return {
    WebhookSource: {
      replays: connectionField(read, {
        limits: pageLimits,
        readMany: (range, sourceIds, { caller }) => replays.list(range, caller.accountId, sourceIds),
        parentId: ({ sourceId }: Replay) => sourceId,
      }),
    },
    ReceivedWebhookReplay: {
      ids: ({ receivedIds }: Replay) => (receivedIds.length === 0 ? null : receivedIds),
      eventTypes: ({ eventTypes }: Replay) => (eventTypes.length === 0 ? null : eventTypes),
      from: ({ fromAt }: Replay) => fromAt,
      to: ({ toAt }: Replay) => toAt,
    },
    Mutation: {
      createReceivedWebhookReplay: mutation(
        {
          ...{ ...write, audit: "webhook_source.replay", input: CreateReplayBody },
          payload: (result: object | null) => ({ replay: null, count: null, ...result }),
        },
        async (input, context, { sourceId }: OfSource) => {
          const { caller } = context;
          const result = await context.write({
            find: (tx) => sourceStore.lock(tx, caller.accountId, sourceId),
            change: (tx, source) => replays.create(tx, caller, source, newReplayOf(input)),
            missing: "There is no such source.",
          });
          if (result.outcome === "started") return { replay: result.replay };
          if (result.outcome === "counted") return { count: result.count };
          throw refusalError({ code: "conflict", ...replayRefusal(result) });
        },
      ),
      cancelReceivedWebhookReplay: mutation(
        { ...write, audit: "webhook_source.cancel_replay", input: z.strictObject({}), payload: "replay" },
        (_input, context, { sourceId, id }: OfSource & { readonly id: string }) =>
          context.write({
            find: (tx) => replays.lock(tx, id, context.caller.accountId, sourceId),
            change: (tx, replay) => replays.cancel(tx, context.caller, replay),
            missing: "There is no such replay.",
          }),
      ),
    },
  };
}
