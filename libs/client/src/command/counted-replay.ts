import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { dataOf } from "../answers.ts";
import type { Client } from "../client.ts";
import { connect } from "./connect.ts";
import type { Context } from "./context.ts";
import { Failure, UsageError } from "./failures.ts";

export interface CountedReplayOptions {
  readonly "dry-run": boolean;
  readonly yes: boolean;
  readonly wait: boolean;
}

interface Replay {
  readonly id: string;
  readonly status: string;
  readonly replayed: number;
  readonly total: number;
}

interface Counted {
  readonly count: number;
  readonly left_out?: number | undefined;
}

/** Starts a replay, or only counts its deliveries. */
type StartReplay = (client: Client, isDryRun: boolean) => Promise<Replay | Counted>;

/** Counts the deliveries, asks the person, starts the replay and waits for its end where the options say so. */
export async function runCounted(
  context: Context,
  choice: string,
  options: CountedReplayOptions,
  start: StartReplay,
): Promise<void> {
  const { output } = context;
  const { client } = await connect(context);
  const counted = await start(client, true);
  if (!("count" in counted)) throw new Failure("Signalbox did not count the deliveries.");
  const { count, left_out: leftOut = 0 } = counted;
  if (leftOut > 0) output.line(`Left out: ${leftOut} to endpoints that are not enabled.`);
  const words = `${count} ${count === 1 ? "delivery" : "deliveries"} ${choice}`;
  if (options["dry-run"] || count === 0) {
    output.line(`${options["dry-run"] ? "Would send again" : "Nothing to send again"}: ${words}.`);
    return output.document(counted);
  }
  if (!options.yes) await confirm(context, `Send again: ${words}?`);
  const started = await start(client, false);
  if ("count" in started) throw new Failure("Signalbox counted the deliveries, and sent none.");
  const ended = options.wait ? await untilEnded(context, client, started.id) : started;
  const { id, status, replayed, total } = ended;
  output.line(`Replay ${id}: ${status}, ${replayed} of ${total} deliveries.`);
  if (!options.wait) output.line(`Cancel it: signalbox api POST /api/v1/webhooks/replays/${id}/cancel`);
  output.document(ended);
}

/** @throws UsageError for a rate that is not a whole number of deliveries a second */
export function rateOf(rate: string | undefined): number | null {
  if (rate !== undefined && !/^[1-9]\d{0,3}$/.test(rate)) throw new UsageError("--rate must be a whole number.");
  return rate === undefined ? null : Number(rate);
}

/** @throws UsageError for a status that is none of these */
export function statusOf<Status extends string>(known: readonly Status[], status: string | undefined) {
  const found = known.find((one) => one === status);
  if (status !== undefined && found === undefined) throw new UsageError(`--status must be ${known.join(", ")}.`);
  return found === undefined ? {} : { status: found };
}

/** Asks the person. @throws UsageError when there is nobody to ask, and Failure when the answer is no */
export async function confirm({ isInteractive, stdin, stdout }: Context, question: string): Promise<void> {
  if (!isInteractive) throw new UsageError(`${question} Add --yes, or --dry-run to see what would happen.`);
  const terminal = createInterface({ input: stdin, output: stdout });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure("Nothing was done.");
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
