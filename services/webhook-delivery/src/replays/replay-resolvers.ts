import type { Clock } from "@signalbox/core";
import {
  connectionField,
  type Load,
  mutation,
  type PageLimits,
  type Resolvers,
  refusalError,
} from "@signalbox/graphql";
import { z } from "zod";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { refusedReplay } from "../refusals.ts";
import type { Replay } from "./replay.ts";
import { filterOf, StartReplayBody } from "./replay-routes.ts";
import type { Replays } from "./replays.ts";

export interface ReplayFields {
  readonly replays: Replays;
  readonly clock: Clock;
  readonly pageLimits: PageLimits;
}

const write = { scopes: ["webhooks:write"] } as const;

/** GraphQL fields of replays. */
export function replayResolvers({
  replays,
  clock,
  pageLimits,
}: ReplayFields): Resolvers<{ readonly endpoint: Load<Endpoint> }> {
  return {
    Account: {
      webhookReplays: connectionField(
        { scopes: ["webhooks:read"], ownOnly: true },
        { limits: pageLimits, read: (range, { id }: { readonly id: string }) => replays.list(range, id) },
      ),
    },
    WebhookReplay: {
      endpoint: ({ endpointId }: Replay, _, { loaders }) => loaders.endpoint(endpointId),
      from: ({ fromTime }: Replay) => fromTime,
      to: ({ toTime }: Replay) => toTime,
    },
    Mutation: {
      startWebhookReplay: mutation(
        {
          ...{ ...write, audit: "webhook_endpoint.replay", input: StartReplayBody },
          payload: (result: object | null) => ({ webhookReplay: null, count: null, ...result }),
        },
        async (input, { caller, inTransaction }) => {
          const filter = filterOf(input, clock.now());
          const result = await inTransaction((tx) => replays.start(tx, caller, filter, input.rate, input.dry_run));
          if (result.outcome === "started") return { webhookReplay: result.replay };
          if (result.outcome === "counted") return { count: result.count };
          throw refusalError(refusedReplay(result));
        },
      ),
      cancelWebhookReplay: mutation(
        {
          ...{ ...write, audit: "webhook_endpoint.cancel_replay" },
          ...{ input: z.strictObject({}), payload: "webhookReplay" },
        },
        (_input, context, { id }: { readonly id: string }) =>
          context.write({
            find: (tx) => replays.lock(tx, id, context.caller.accountId),
            change: (tx, replay) => replays.cancel(tx, context.caller, replay),
            missing: "There is no such replay.",
          }),
      ),
    },
  };
}
