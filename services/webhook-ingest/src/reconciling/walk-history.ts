import { type Clock, seconds } from "@signalbox/core";
import { idKeyOf } from "../receiving/delivery-keys.ts";
import { acceptsType } from "../sources/source.ts";
import type { CachedSource } from "../sources/source-cache.ts";
import type { MissedStore, MissedWebhook } from "./missed-store.ts";
import type { Reconciliation } from "./reconciliation.ts";
import type { ReconciliationStore } from "./reconciliation-store.ts";
import type { RecoverWebhook, Turn } from "./recover-webhook.ts";
import type { ListedWebhook, SenderAnswer, SenderFailure } from "./sender-history.ts";

/** The run after a step, with the time of the next step, its end, or the sender's failure. */
export interface Progress {
  readonly run: Reconciliation;
  readonly outcome:
    | { readonly outcome: "paced"; readonly dueAt: Date }
    /** `isWhole`: a later run need not look for the same webhooks again. */
    | { readonly outcome: "ended"; readonly reason: string | null; readonly isWhole: boolean }
    | SenderFailure;
}

interface Dependencies {
  readonly runs: Pick<ReconciliationStore, "save">;
  readonly missed: MissedStore;
  readonly recover: RecoverWebhook;
  readonly clock: Clock;
}

/** A step ends well within its lease. */
const stepMs = seconds(5);
/** GitHub wants a second between two requests that change something. */
const askEveryMs = seconds(1);
/** Time in which a webhook that was asked for arrives, or will not. */
const arrivalMs = seconds(60);
/** Missing webhooks of one run; the next one goes on. */
const missedMax = 50_000;

/**
 * Creates one step of a run: pages of the sender's list, then the webhooks that it only names, then requests to send
 * again those whose bytes cannot be had. What is received has its effect once, by the key that a pushed webhook has.
 */
export const createWalkHistory =
  (dependencies: Dependencies) =>
  async (turn: Turn): Promise<Progress> => {
    const { missed, clock } = dependencies;
    const { pace, fetch } = turn.history;
    const [startedMs, startedSteadyMs] = [clock.nowMs(), clock.steadyMs()];
    const isLate = () => clock.steadyMs() - startedSteadyMs >= stepMs;
    let { run } = turn;
    await missed.settle(run, turn.access.sender);
    for (let requests = 0; requests < pace.requests && !isLate(); requests++) {
      const now = { ...turn, run };
      const [next] = run.isListed && fetch ? await missed.next(run.id, "fetch", 1) : [];
      if (run.isListed && !next) return finish(dependencies, now);
      const answer = next ? await fetchOne(dependencies, now, next) : await listPage(dependencies, now);
      if (answer.outcome !== "answered") return { run, outcome: answer };
      run = answer.value ?? run;
      if (answer.waitUntil) return paced(run, answer.waitUntil);
    }
    return paced(run, new Date(Math.max(startedMs + pace.perMs, clock.nowMs())));
  };

/** Reads the next page of the list, and takes what it has whole. */
async function listPage({ runs, missed, recover }: Dependencies, turn: Turn): Promise<SenderAnswer<Reconciliation>> {
  const { run, known, history, access } = turn;
  const answer = await history.list(access, run, run.position);
  if (answer.outcome !== "answered") return answer;
  const { webhooks, next } = answer.value;
  const missing = await missingOf(missed, known, webhooks);
  if (!run.dryRun) {
    await missed.add(run.sourceId, run.id, missing);
    const received: Buffer[] = [];
    // The oldest first: within a page they keep their order.
    for (const { digest, copy } of missing.toReversed())
      if (copy && (await recover(turn, digest, copy)) === "received") received.push(digest);
    await missed.settle(run, access.sender, received);
  }
  const counted = withMissing(run, missing);
  const isFull = counted.missed >= missedMax;
  const position = { position: next, isListed: next === null || isFull, listed: run.listed + webhooks.length };
  const reason = isFull && next !== null ? "more_to_come" : null;
  const after = { ...counted, ...position, reason, failures: 0 };
  await runs.save(after);
  return { ...answer, value: after };
}

async function missingOf(missed: MissedStore, { source }: CachedSource, webhooks: readonly ListedWebhook[]) {
  const wanted = webhooks
    .filter(({ eventType }) => acceptsType(source, eventType))
    .map((one) => ({ ...one, digest: idKeyOf(one.deliveryId) }));
  const digests = wanted.map(({ digest }) => digest);
  const absent = await missed.unreceived(source.id, digests);
  // An attempt and its repetition have one id.
  const unique = new Map(wanted.map((one) => [one.digest.toString("hex"), one]));
  return [...unique].filter(([digest]) => absent.has(digest)).map(([, one]) => one);
}

/** Reads a webhook that the list only names, and takes it. */
async function fetchOne(
  { missed, recover }: Dependencies,
  turn: Turn,
  { digest, reference }: MissedWebhook,
): Promise<SenderAnswer<null>> {
  const { run, history, access } = turn;
  const answer = await (history.fetch as NonNullable<typeof history.fetch>)(access, reference);
  if (answer.outcome === "away" && answer.reason === "too_large") {
    await missed.mark(run.sourceId, digest, "ask");
    return { outcome: "answered", value: null, waitUntil: null };
  }
  if (answer.outcome !== "answered") return answer;
  const recovery = answer.value === null ? null : await recover(turn, digest, answer.value);
  if (recovery === null) await missed.fail(run.sourceId, digest, "gone");
  if (recovery === "received") await missed.settle(run, access.sender, [digest]);
  if (recovery === "other-bytes") await missed.mark(run.sourceId, digest, "ask");
  return { ...answer, value: null };
}

/** Asks the sender to send a webhook again. It is noted first, because the webhook may arrive before the answer. */
async function askOne(
  { missed, clock }: Dependencies,
  { run, history, access }: Turn,
  one: MissedWebhook,
): Promise<SenderAnswer<null>> {
  await missed.noteAsk(run.sourceId, one.digest, clock.now());
  const answer = await (history.ask as NonNullable<typeof history.ask>)(access, one.reference);
  if (answer.outcome !== "answered") {
    await missed.mark(run.sourceId, one.digest, "ask");
    return answer;
  }
  if (!answer.value) await missed.fail(run.sourceId, one.digest, "not_sent_again");
  return { ...answer, value: null };
}

/** Asks for one webhook, or waits for those that were asked for, or ends the run. */
async function finish(dependencies: Dependencies, turn: Turn): Promise<Progress> {
  const { missed, clock } = dependencies;
  const { run, history, access } = turn;
  const later = new Date(clock.nowMs() + askEveryMs);
  const [first] = history.ask ? await missed.next(run.id, "ask", 1) : [];
  if (first) {
    const answer = await askOne(dependencies, turn, first);
    return answer.outcome === "answered" ? paced(run, answer.waitUntil ?? later) : { run, outcome: answer };
  }
  const [asked] = await missed.next(run.id, "asked", 1);
  const isDue = (asked?.askedAt?.getTime() ?? 0) + arrivalMs <= clock.nowMs();
  if (asked && !isDue) return paced(run, later);
  if (asked) await missed.giveUpAsked(run.id);
  await missed.settleAll(run, access.sender);
  return { run, outcome: { outcome: "ended", reason: run.reason, isWhole: !(await missed.hasMore(run.id)) } };
}

const paced = (run: Reconciliation, dueAt: Date): Progress => ({ run, outcome: { outcome: "paced", dueAt } });

/** Returns the run with what a page added. The counts of the row are kept beside it, except in a dry run. */
function withMissing(run: Reconciliation, missing: readonly { readonly sentAt: Date }[]): Reconciliation {
  const times = [run.missedFrom, run.missedTo, ...missing.map(({ sentAt }) => sentAt)].flatMap(
    (at) => at?.getTime() ?? [],
  );
  if (times.length === 0) return run;
  const [missedFrom, missedTo] = [new Date(Math.min(...times)), new Date(Math.max(...times))];
  return { ...run, missed: run.missed + missing.length, missedFrom, missedTo };
}
