import { dataOf, idempotencyKey } from "../../answers.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import { type CountedReplayOptions, rateOf, runCounted, statusOf } from "../counted-replay.ts";
import type { Input } from "../declare.ts";
import { UsageError, withTexts } from "../failures.ts";
import { parseTime } from "../parse-time.ts";

interface ReplayOptions extends CountedReplayOptions {
  readonly endpoint: string | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly status: string | undefined;
  readonly events: readonly string[];
  readonly "event-id": readonly string[];
  readonly rate: string | undefined;
}

/** Sends deliveries again: one by its id, or those of an endpoint since a time, once they are counted and confirmed. */
export async function run(context: Context, { args: [deliveryId], options }: Input<ReplayOptions>): Promise<void> {
  if (deliveryId !== undefined) return replayOne(context, deliveryId, options);
  const request = requestOf(options, context.nowMs());
  const choice = `to ${request.endpoint_id} since ${request.from}`;
  await runCounted(context, choice, options, (client, dry_run) => {
    const params = dry_run ? {} : { header: idempotencyKey() };
    return dataOf(client.POST("/api/v1/webhooks/replays", { params, body: { ...request, dry_run } }));
  });
}

async function replayOne(context: Context, id: string, options: ReplayOptions): Promise<void> {
  if (options.endpoint !== undefined || options.since !== undefined) {
    throw new UsageError("Name a delivery, or an endpoint with --endpoint and --since, not both.");
  }
  const { output } = context;
  const { client } = await connect(context);
  const path = { id };
  const delivery = options["dry-run"]
    ? await dataOf(client.GET("/api/v1/webhooks/deliveries/{id}", { params: { path } }))
    : await dataOf(
        client.POST("/api/v1/webhooks/deliveries/{id}/retry", { params: { path, header: idempotencyKey() } }),
      );
  withTexts(delivery, "id", "event_type", "endpoint_id");
  const words = `delivery ${delivery.id} of ${delivery.event_type} to ${delivery.endpoint_id}`;
  output.line(options["dry-run"] ? `Would send again: ${words}, now ${delivery.status}.` : `Sending again: ${words}.`);
  output.document(delivery);
}

const statuses = ["succeeded", "exhausted", "parked", "waiting"] as const;

function requestOf({ endpoint, since, until, status, rate, ...options }: ReplayOptions, nowMs: number) {
  if (endpoint === undefined) throw new UsageError("Name a delivery, or an endpoint with --endpoint.");
  if (since === undefined) throw new UsageError("Name the earliest time with --since, such as --since 2h.");
  return {
    endpoint_id: endpoint,
    from: parseTime("since", since, nowMs).toISOString(),
    ...(until !== undefined && { to: parseTime("until", until, nowMs).toISOString() }),
    ...statusOf(statuses, status),
    event_types: [...options.events],
    event_ids: [...options["event-id"]],
    rate: rateOf(rate),
  };
}
