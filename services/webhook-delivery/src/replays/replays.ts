import type { Caller, Viewer } from "@signalbox/auth";
import { viewOf } from "@signalbox/contracts";
import { AppError, newId } from "@signalbox/core";
import { accepted, ok } from "@signalbox/http";
import { audited, type Edges, edgesOf, type Load, list, operation, record } from "@signalbox/service";
import { advisoryLock, type Tx } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { type Endpoint, requireScopeOf } from "../endpoints/endpoint.ts";
import { endpointsSeen, seen } from "../endpoints/endpoint-id.ts";
import { lockEndpoint } from "../endpoints/endpoint-store.ts";
import { beginning } from "../events/event-store.ts";
import {
  CountedResource,
  filterOf,
  type Replay,
  type ReplayChoice,
  type ReplayFilter,
  ReplayResource,
  RetryDeliveriesBody,
  replayExample,
  replayedStatuses,
  retriedStatuses,
  StartReplayBody,
} from "./replay.ts";
import { countTurns, countWanted, queueStep, queueTurn } from "./replayed-deliveries.ts";

export const findReplay = async ({ replayEngine }: DeliveryService, viewer: Viewer, id: string) =>
  seen(viewer, await replayEngine.find(id, viewer.accountId));

const lockReplay = async ({ replayEngine }: DeliveryService, tx: Tx, viewer: Viewer, id: string) =>
  seen(viewer, await replayEngine.lock(tx, id, viewer.accountId));

/** Starts a replay, or counts. @throws AppError `validation_error` for all endpoints in a bound portal session */
async function startReplay(
  { configuration, clock, replayEngine }: DeliveryService,
  tx: Tx,
  caller: Caller,
  { rate, dry_run: dryRun, ...choice }: ReplayChoice,
  statuses: ReplayFilter["statuses"],
) {
  const { accountId } = caller;
  const at = clock.now();
  const filter = filterOf(choice, statuses, at);
  const totalMax = configuration.get("webhook-delivery.replays.deliveries-max");
  const matching = await lockMatching(tx, caller, filter, dryRun ? totalMax : totalMax + 1);
  if (matching === null) return { outcome: "no-endpoint" } as const;
  const replay: Replay = {
    ...filter,
    id: newId("whr", at.getTime()),
    accountId,
    rate,
    status: "running",
    ...matching,
    replayed: 0,
    placeTime: filter.fromTime,
    placeId: "",
    createdAt: at,
    endedAt: null,
  };
  const entry = audited(caller, { action: "webhook_endpoint.replay", subject: subjectOf(replay) });
  const outcome = await replayEngine.start(tx, filter.endpointId, replay, { totalMax, dryRun, entry });
  const leftOut = filter.endpointId === null ? matching.leftOut : null;
  return outcome.outcome === "counted" ? { ...outcome, leftOut } : outcome;
}

/** Locks the endpoint, or the retries of the account, and counts; returns null for a missing endpoint. */
async function lockMatching(tx: Tx, caller: Caller, filter: ReplayFilter, most: number) {
  if (filter.endpointId === null) {
    if (endpointsSeen(caller) !== null) throw refusedEndpoint();
    await advisoryLock(tx, `replays:${caller.accountId}`);
    return countTurns(tx, filter, caller, most);
  }
  const endpoint = await lockEndpoint(tx, caller, filter.endpointId);
  if (endpoint === null) return null;
  requireScopeOf(endpoint, caller);
  return { total: await countWanted(tx, filter, endpoint.id, most), turns: [], leftOut: 0 };
}

function refusedEndpoint(): AppError {
  const message = "This portal session is limited to certain endpoints: name one of them.";
  const details = [{ field: "endpoint_id", code: "required" as const, message }];
  return new AppError("validation_error", message, { details });
}

const subjectOf = ({ id, endpointId }: Replay): string => endpointId ?? id;

function cancelReplay({ replayEngine }: DeliveryService, tx: Tx, caller: Caller, replay: Replay): Promise<Replay> {
  const entry = audited(caller, { action: "webhook_endpoint.cancel_replay", subject: subjectOf(replay) });
  return replayEngine.cancel(tx, replay, entry);
}

/** Queues the next deliveries of a replay that is due; returns "again" while there may be more. */
export const runReplays = ({ replayEngine, wakeUp }: DeliveryService): Promise<"again" | "done"> =>
  replayEngine.step(async (tx, replay) => {
    const { endpointId } = replay;
    const step = endpointId === null ? await queueTurn(tx, replay) : await queueStep(tx, replay, endpointId);
    if ("replay" in step) tx.afterCommit(wakeUp.wake);
    return step;
  });

const base = "/api/v1/webhooks/replays";
const one = `${base}/:id` as const;
const viewReplay = viewOf(ReplayResource, ({ fromTime: from, toTime: to }: Replay) => ({ from, to }));
const showReplay = (replay: Replay) => ok(viewReplay(replay));
const read = { scopes: ["webhooks:read"], portal: true } as const;
const write = { scopes: ["webhooks:write"], portal: true } as const;
const missing = "There is no such replay.";

export function replayApi(service: DeliveryService, loadEndpoint: Load<Endpoint>): Edges {
  return edgesOf(
    { ...declareReads(service), ...declareWrites(service) },
    {
      exampleIds: { id: replayExample.id },
      fields: {
        WebhookReplay: {
          endpoint: ({ endpointId }: Replay, _, context) => endpointId && loadEndpoint(context, endpointId),
          from: ({ fromTime }: Replay) => fromTime,
          to: ({ toTime }: Replay) => toTime,
        },
      },
    },
  );
}

function declareReads(service: DeliveryService) {
  const { replayEngine, pageLimits } = service;
  return {
    webhookReplays: list({
      summary: "List replays, newest first",
      description: "A replay sends deliveries of one endpoint, or of all, again.",
      auth: read,
      limits: pageLimits,
      read: (range, { caller }) => replayEngine.list(range, caller.accountId, { of: endpointsSeen(caller) }),
      rest: { get: base, item: ReplayResource, view: viewReplay },
    }),
    webhookReplay: record({
      summary: "Read a replay and its progress",
      description: "State, selection and number of items so far.",
      auth: read,
      find: ({ caller, params }) => findReplay(service, caller, params.id),
      missing,
      rest: { get: one, resource: ReplayResource, answer: showReplay },
    }),
  };
}

const startRefusals = {
  "no-endpoint": { code: "not_found", message: "There is no such endpoint." },
  "limit-reached": {
    code: "conflict",
    message: "A replay of the same endpoint, or of all, is running: wait for it, or cancel it.",
  },
  "too-many": ({ max }: { readonly max: number }) => {
    const message = `More than ${max} deliveries match: choose a shorter time.`;
    return { code: "validation_error", message, details: [{ field: "from", code: "too_big", message }] } as const;
  },
} as const;

type Begun =
  | { readonly outcome: "started"; readonly replay: Replay }
  | { readonly outcome: "counted"; readonly count: number; readonly leftOut: number | null };

const answerBegun = (result: Begun) =>
  result.outcome === "started" ? accepted(viewReplay(result.replay)) : ok(viewCount(result));
// JSON leaves out what is undefined.
const viewCount = ({ count, leftOut }: { readonly count: number; readonly leftOut: number | null }) => ({
  count,
  left_out: leftOut ?? undefined,
});
const begunPayload = {
  webhookReplay: (result: Begun) => (result.outcome === "started" ? result.replay : null),
  count: (result: Begun) => (result.outcome === "counted" ? result.count : null),
  leftOut: (result: Begun) => (result.outcome === "counted" ? result.leftOut : null),
};

function declareWrites(service: DeliveryService) {
  return {
    startWebhookReplay: operation({
      summary: "Replay deliveries in any state",
      description:
        "Deliveries of one endpoint, the oldest first, under their own ids: up to a million, unless `webhook-delivery.replays.deliveries-max` says otherwise. Those that wait for an attempt become due. With `dry_run` they are only counted. One replay of an endpoint runs at a time.",
      auth: write,
      audit: "webhook_endpoint.replay",
      input: StartReplayBody,
      create: (tx, { caller, input: { status, ...choice } }) =>
        startReplay(service, tx, caller, choice, status ? [status] : replayedStatuses),
      refusals: startRefusals,
      rest: {
        post: base,
        responses: { 200: CountedResource, 202: ReplayResource, 422: "error" },
        idempotent: true,
        answer: answerBegun,
      },
      graph: { payload: begunPayload, type: "StartWebhookReplayPayload" },
    }),
    retryWebhookDeliveries: operation({
      summary: "Retry all undelivered deliveries now",
      description:
        "Retries deliveries that are waiting for their next attempt, exhausted or parked, oldest first: of one endpoint, or of all enabled push endpoints of the account in turn. It is a replay: watch and cancel it below `/api/v1/webhooks/replays`. With `dry_run` they are only counted.",
      auth: write,
      audit: "webhook_endpoint.replay",
      input: RetryDeliveriesBody,
      create: (tx, { caller, input: { status, from = beginning, ...choice } }) =>
        startReplay(service, tx, caller, { ...choice, from }, status ? [status] : retriedStatuses),
      refusals: startRefusals,
      rest: {
        post: "/api/v1/webhooks/deliveries/retry",
        responses: { 200: CountedResource, 202: ReplayResource, 422: "error" },
        idempotent: true,
        answer: answerBegun,
      },
      graph: { payload: begunPayload, type: "RetryWebhookDeliveriesPayload" },
    }),
    cancelWebhookReplay: operation({
      summary: "Cancel a replay; deliveries already queued go out",
      description: "Cancelling a replay that has ended gets 409.",
      auth: write,
      audit: "webhook_endpoint.cancel_replay",
      of: { find: (tx, { caller, params }) => lockReplay(service, tx, caller, params.id), missing },
      change: (tx, replay, { caller }) => cancelReplay(service, tx, caller, replay),
      rest: { post: `${one}/cancel`, responses: { 200: ReplayResource }, idempotent: true, answer: showReplay },
      graph: { payload: "webhookReplay" },
    }),
  };
}
