import { dataOf, idempotencyKey } from "../../answers.ts";
import type { Context } from "../context.ts";
import { type CountedReplayOptions, rateOf, runCounted, statusOf } from "../counted-replay.ts";
import type { Input } from "../declare.ts";
import { parseTime } from "../parse-time.ts";

interface RetryOptions extends CountedReplayOptions {
  readonly endpoint: string | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly status: string | undefined;
  readonly events: readonly string[];
  readonly "event-id": readonly string[];
  readonly rate: string | undefined;
}

const statuses = ["waiting", "exhausted", "parked"] as const;

/** Attempts the deliveries that have not arrived, of an endpoint or of all, now, once they are counted and confirmed. */
export async function run(context: Context, { options }: Input<RetryOptions>): Promise<void> {
  const { endpoint, since, until, status, rate } = options;
  const time = (name: string, text: string) => parseTime(name, text, context.nowMs()).toISOString();
  const body = {
    ...(endpoint !== undefined && { endpoint_id: endpoint }),
    ...(since !== undefined && { from: time("since", since) }),
    ...(until !== undefined && { to: time("until", until) }),
    ...statusOf(statuses, status),
    event_types: [...options.events],
    event_ids: [...options["event-id"]],
    rate: rateOf(rate),
  };
  await runCounted(context, `to ${endpoint ?? "all endpoints"} that have not arrived`, options, (client, dry_run) => {
    const params = dry_run ? {} : { header: idempotencyKey() };
    return dataOf(client.POST("/api/v1/webhooks/deliveries/retry", { params, body: { ...body, dry_run } }));
  });
}
