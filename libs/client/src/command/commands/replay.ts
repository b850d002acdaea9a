import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { dataOf, idempotencyKey } from "../../answers.ts";
import type { Client } from "../../client.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Input } from "../declare.ts";
import { Failure, UsageError } from "../failures.ts";
import { parseTime } from "../parse-time.ts";

interface ReplayOptions {
  readonly endpoint: string | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly status: string | undefined;
  readonly events: readonly string[];
  readonly "event-id": readonly string[];
  readonly rate: string | undefined;
  readonly "dry-run": boolean;
  readonly yes: boolean;
  readonly wait: boolean;
}

/** Sends deliveries again: one by its id, or those of an endpoint since a time, once they are counted and confirmed. */
export async function run(context: Context, { args: [deliveryId], options }: Input<ReplayOptions>): Promise<void> {
  if (deliveryId !== undefined) return replayOne(context, deliveryId, options);
  const request = requestOf(options, context.nowMs());
  const { output } = context;
  const { client } = await connect(context);
  const count = await countOf(client, request);
  const words = `${count} ${count === 1 ? "delivery" : "deliveries"} to ${request.endpoint_id} since ${request.from}`;
  if (options["dry-run"]) {
    output.line(`Would send again: ${words}.`);
    return output.document({ count });
  }
  if (count === 0) {
    output.line(`Nothing to send again: ${words}.`);
    return output.document({ count });
  }
  if (!options.yes) await confirm(context, `Send again: ${words}?`);
  const params = { header: idempotencyKey() };
  const started = await dataOf(client.POST("/api/v1/webhooks/replays", { params, body: request }));
  if ("count" in started) throw new Failure("Signalbox counted the deliveries, and sent none.");
  const ended = options.wait ? await untilEnded(context, client, started.id) : started;
  const { id, status, replayed, total } = ended;
  output.line(`Replay ${id}: ${status}, ${replayed} of ${total} deliveries.`);
  if (!options.wait) output.line(`Cancel it: signalbox api POST /api/v1/webhooks/replays/${id}/cancel`);
  output.document(ended);
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
  const words = `delivery ${delivery.id} of ${delivery.event_type} to ${delivery.endpoint_id}`;
  output.line(options["dry-run"] ? `Would send again: ${words}, now ${delivery.status}.` : `Goes out again: ${words}.`);
  output.document(delivery);
}

const statuses = ["succeeded", "exhausted", "parked"] as const;

function requestOf({ endpoint, since, until, status, rate, ...options }: ReplayOptions, nowMs: number) {
  if (endpoint === undefined) throw new UsageError("Name a delivery, or an endpoint with --endpoint.");
  if (since === undefined) throw new UsageError("Name the oldest time with --since, such as --since 2h.");
  const known = statuses.find((one) => one === status);
  if (status !== undefined && known === undefined) throw new UsageError(`--status must be ${statuses.join(", ")}.`);
  if (rate !== undefined && !/^[1-9]\d{0,3}$/.test(rate)) throw new UsageError("--rate must be a whole number.");
  return {
    endpoint_id: endpoint,
    from: parseTime("since", since, nowMs).toISOString(),
    ...(until !== undefined && { to: parseTime("until", until, nowMs).toISOString() }),
    ...(known !== undefined && { status: known }),
    event_types: [...options.events],
    event_ids: [...options["event-id"]],
    rate: rate === undefined ? null : Number(rate),
  };
}

type ReplayRequest = ReturnType<typeof requestOf>;

async function countOf(client: Client, request: ReplayRequest): Promise<number> {
  const answer = await dataOf(client.POST("/api/v1/webhooks/replays", { body: { ...request, dry_run: true } }));
  if ("count" in answer) return answer.count;
  throw new Failure("Signalbox did not count the deliveries.");
}

/** Asks the person. @throws UsageError when there is nobody to ask, and Failure when the answer is no */
async function confirm({ isInteractive, stdin, stdout }: Context, question: string): Promise<void> {
  if (!isInteractive) throw new UsageError(`${question} Add --yes, or --dry-run to see what would happen.`);
  const terminal = createInterface({ input: stdin, output: stdout });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure("Nothing was sent.");
}

const lookMs = 500;

async function untilEnded({ stopping }: Context, client: Client, id: string) {
  const signal = stopping();
  for (;;) {
    const replay = await dataOf(client.GET("/api/v1/webhooks/replays/{id}", { params: { path: { id } } }));
    if (replay.status !== "running" || signal.aborted) return replay;
    await sleep(lookMs, undefined, { signal }).catch(() => {});
  }
}
