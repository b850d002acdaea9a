import { AppError, seconds } from "@signalbox/core";
import type { Metrics } from "@signalbox/telemetry";
import type { Delivery } from "../receiving/delivery.ts";
import { idKeyOf } from "../receiving/delivery-keys.ts";
import type { DeliveryWriter } from "../receiving/delivery-writer.ts";
import { acceptsType, type Judge, judgeAgainstSource, judgeCopy } from "../receiving/judge-webhook.ts";
import type { KnownSource } from "../sources/known-sources.ts";
import { addressOf, ingestPathOf } from "../sources/source.ts";
import type { MissedStore, MissedWebhook } from "./missed-store.ts";
import type { Reconciliation } from "./reconciliation.ts";
import type { ReconciliationStore } from "./reconciliation-store.ts";
import type { ListedWebhook, SenderAccess, SenderAnswer, SenderFailure, SenderHistory, WebhookCopy } from "./sender-history.ts";

/** One step of a run. */
export interface Turn {
  readonly run: Reconciliation;
  readonly known: KnownSource;
  readonly history: SenderHistory;
  readonly access: SenderAccess;
}

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
  readonly judge: Judge;
  readonly deliveryWriter: Pick<DeliveryWriter, "write">;
  readonly metrics: Pick<Metrics, "counter">;
}

/**
 * Requests of a step, and the time until the next one. GitHub allows 900 reads in a minute and wants them one after
 * another; other senders allow more.
 */
const requestsMax = 70;
const paceMs = seconds(5);
/** A step ends well within its lease. */
const stepMs = seconds(4);
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
export function createWalkHistory({ runs, missed, judge, deliveryWriter, metrics }: Dependencies) {
  const { clock } = judge;
  const found = metrics.counter("signalbox_webhooks_missed_total");

  async function settle({ run, access }: Turn, digests: readonly Buffer[] = []): Promise<void> {
    const count = await missed.settle(run.sourceId, run.id, digests);
    if (count > 0) found.inc({ sender: access.sender, outcome: "recovered" }, count);
  }

  /** Reads the next page of the list, and takes what it has whole. */
  async function listPage(turn: Turn): Promise<SenderAnswer<Reconciliation>> {
    const { run, known, history, access } = turn;
    const answer = await history.list(access, run, run.position);
    if (answer.outcome !== "answered") return answer;
    const { webhooks, next } = answer.value;
    const missing = await missingOf(known, webhooks);
    if (!run.dryRun) {
      await missed.add(run.sourceId, run.id, missing);
      // The oldest first: within a page they keep their order.
      for (const one of missing.toReversed()) if (one.copy) await take(turn, one.digest, one.copy);
    }
    const isFull = run.missed + missing.length >= missedMax;
    const counted = withMissing(run, missing);
    const saved = { ...counted, position: next, isListed: next === null || isFull, failures: 0 };
    const reason = isFull && next !== null ? "more_to_come" : null;
    const after = { ...saved, listed: run.listed + webhooks.length, reason };
    await runs.save(after);
    return { ...answer, value: after };
  }

  async function missingOf({ source }: KnownSource, webhooks: readonly ListedWebhook[]) {
    const wanted = webhooks
      .filter(({ eventType }) => acceptsType(source, eventType))
      .map((one) => ({ ...one, digest: idKeyOf(one.deliveryId) }));
    const digests = wanted.map(({ digest }) => digest);
    const absent = await missed.unreceived(source.id, digests);
    // An attempt and its repetition have one id.
    const unique = new Map(wanted.map((one) => [one.digest.toString("hex"), one]));
    return [...unique].filter(([digest]) => absent.has(digest)).map(([, one]) => one);
  }

  /** Takes a webhook as if it had been pushed now. Returns false when none of its bodies is what the sender signed. */
  async function take(turn: Turn, digest: Buffer, copy: WebhookCopy): Promise<boolean> {
    const { known, history, run } = turn;
    const { source } = known;
    for (const body of copy.bodies) {
      const sent = { sourceId: source.id, address: addressOf(source), method: "POST", url: ingestPathOf(source), headers: copy.headers, body };
      const judgement = history.fetch ? await judgeAgainstSource(judge, sent, known) : judgeCopy(judge, sent, known);
      if ("delivery" in judgement) {
        await receive(turn, digest, judgement.delivery);
        return true;
      }
      if (judgement.outcome !== "not-verified") {
        const reason = "reason" in judgement ? judgement.reason : judgement.outcome;
        await missed.fail(run.sourceId, digest, reason);
        return true;
      }
    }
    return false;
  }

  async function receive(turn: Turn, digest: Buffer, delivery: Delivery): Promise<void> {
    const outcome = await deliveryWriter.write({ ...delivery, origin: "reconciled" });
    if (outcome === "stale") throw new AppError("unavailable", "The source is being changed.", { retryAfterSeconds: 1 });
    await settle(turn, [digest]);
  }

  /** Reads a webhook that the list only names, and takes it. */
  async function fetchOne(turn: Turn, { digest, reference }: MissedWebhook): Promise<SenderAnswer<null>> {
    const { run, history, access } = turn;
    const answer = await (history.fetch as NonNullable<typeof history.fetch>)(access, reference);
    if (answer.outcome === "away" && answer.reason === "too_large") {
      await missed.mark(run.sourceId, digest, "ask");
      return { outcome: "answered", value: null, waitUntil: null };
    }
    if (answer.outcome !== "answered") return answer;
    if (answer.value === null) await missed.fail(run.sourceId, digest, "gone");
    else if (!(await take(turn, digest, answer.value))) await missed.mark(run.sourceId, digest, "ask");
    return { ...answer, value: null };
  }

  /** Asks the sender to send a webhook again. It is noted first, because the webhook may arrive before the answer. */
  async function askOne({ run, history, access }: Turn, one: MissedWebhook): Promise<SenderAnswer<null>> {
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
  async function finish(turn: Turn): Promise<Progress> {
    const { run, history, access } = turn;
    const [first] = history.ask ? await missed.next(run.id, "ask", 1) : [];
    if (first) {
      const answer = await askOne(turn, first);
      if (answer.outcome !== "answered") return { run, outcome: answer };
      return paced(run, answer.waitUntil ?? new Date(clock.nowMs() + askEveryMs));
    }
    const [asked] = await missed.next(run.id, "asked", 1);
    const isDue = (asked?.askedAt?.getTime() ?? 0) + arrivalMs <= clock.nowMs();
    if (asked && !isDue) return paced(run, new Date(clock.nowMs() + askEveryMs));
    if (asked) await missed.giveUpAsked(run.id);
    const count = await missed.settleAll(run.sourceId, run.id);
    if (count > 0) found.inc({ sender: access.sender, outcome: "recovered" }, count);
    return { run, outcome: { outcome: "ended", reason: run.reason, isWhole: !(await missed.hasMore(run.id)) } };
  }

  return async function walkHistory(turn: Turn): Promise<Progress> {
    const [startedMs, startedSteadyMs] = [clock.nowMs(), clock.steadyMs()];
    const isLate = () => clock.steadyMs() - startedSteadyMs >= stepMs;
    const pacedFrom = (run: Reconciliation) => paced(run, new Date(startedMs + paceMs));
    let { run } = turn;
    await settle(turn);
    for (let requests = 0; requests < requestsMax; requests++) {
      if (isLate()) return paced(run, clock.now());
      const [next] = run.isListed && turn.history.fetch ? await missed.next(run.id, "fetch", 1) : [];
      if (run.isListed && !next) return finish({ ...turn, run });
      const answer = next ? await fetchOne({ ...turn, run }, next) : await listPage({ ...turn, run });
      if (answer.outcome !== "answered") return { run, outcome: answer };
      run = answer.value ?? run;
      if (answer.waitUntil) return paced(run, answer.waitUntil);
    }
    return pacedFrom(run);
  };
}

const paced = (run: Reconciliation, dueAt: Date): Progress => ({ run, outcome: { outcome: "paced", dueAt } });

/** Returns the run with what a page added. The counts of the row are kept beside it, except in a dry run. */
function withMissing(run: Reconciliation, missing: readonly { readonly sentAt: Date }[]): Reconciliation {
  const times = [run.missedFrom, run.missedTo, ...missing.map(({ sentAt }) => sentAt)].flatMap((at) => at?.getTime() ?? []);
  if (times.length === 0) return run;
  const [missedFrom, missedTo] = [new Date(Math.min(...times)), new Date(Math.max(...times))];
  return { ...run, missed: run.missed + missing.length, missedFrom, missedTo };
}
