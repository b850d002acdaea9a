import { AppError, seconds } from "@signalbox/core";
import type { IngestService } from "../context/ingest-service.ts";
import type { PostedWebhook } from "../judging/decode-body.ts";
import { judgeCopy, judgePosted } from "../judging/judge-webhook.ts";
import { idKeyOf } from "../received/dedupe-keys.ts";
import { acceptsType, addressOf, ingestPathOf } from "../sources/source.ts";
import type { CachedSource } from "../sources/source-row.ts";
import {
  addMissed,
  failMissed,
  giveUpAskedMissed,
  hasMoreMissed,
  type MissedWebhook,
  markMissed,
  nextMissed,
  noteAskedMissed,
  settleMissed,
  unreceivedOf,
} from "./missed-store.ts";
import type { Reconciliation } from "./reconciliation.ts";
import { saveRun } from "./reconciliation-store.ts";
import type {
  ListedWebhook,
  SenderAccess,
  SenderAnswer,
  SenderFailure,
  SenderHistory,
  WebhookCopy,
} from "./sender-history.ts";

/** One step of a run. */
interface Turn {
  readonly run: Reconciliation;
  readonly known: CachedSource;
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

/** A step ends well within its lease. */
const stepMs = seconds(5);
/** GitHub wants a second between two requests that change something. */
const askEveryMs = seconds(1);
/** Time in which a webhook that was asked for arrives, or will not. */
const arrivalMs = seconds(60);
/** Missing webhooks of one run; the next one goes on. */
const missedMax = 50_000;

/** Takes one step of a run: pages of the list, webhooks that it only names, then requests to send others again. */
export async function walkHistory(service: IngestService, turn: Turn): Promise<Progress> {
  const { pool, clock } = service;
  const { pace, fetch } = turn.history;
  const [startedMs, startedSteadyMs] = [clock.nowMs(), clock.steadyMs()];
  const isLate = () => clock.steadyMs() - startedSteadyMs >= stepMs;
  let { run } = turn;
  await settleMissed(service, run, turn.access.sender);
  for (let requests = 0; requests < pace.requests && !isLate(); requests++) {
    const now = { ...turn, run };
    const [next] = run.isListed && fetch ? await nextMissed(pool, run.id, "fetch", 1) : [];
    if (run.isListed && !next) return finish(service, now);
    const answer = next ? await fetchOne(service, now, next) : await listPage(service, now);
    if (answer.outcome !== "answered") return { run, outcome: answer };
    run = answer.value ?? run;
    if (answer.waitUntil) return paced(run, answer.waitUntil);
  }
  return paced(run, new Date(Math.max(startedMs + pace.perMs, clock.nowMs())));
}

/** Reads the next page of the list, and takes what it has whole. */
async function listPage(service: IngestService, turn: Turn): Promise<SenderAnswer<Reconciliation>> {
  const { pool } = service;
  const { run, known, history, access } = turn;
  const answer = await history.list(service, access, run, run.position);
  if (answer.outcome !== "answered") return answer;
  const { webhooks, next } = answer.value;
  const missing = await missingOf(service, known, webhooks);
  if (!run.dryRun) {
    await addMissed(pool, run.sourceId, run.id, missing);
    const received: Buffer[] = [];
    // The oldest first: within a page they keep their order.
    for (const { digest, copy } of missing.toReversed())
      if (copy && (await recoverWebhook(service, turn, digest, copy)) === "received") received.push(digest);
    await settleMissed(service, run, access.sender, received);
  }
  const counted = withMissing(run, missing);
  const isFull = counted.missed >= missedMax;
  const position = { position: next, isListed: next === null || isFull, listed: run.listed + webhooks.length };
  const reason = isFull && next !== null ? "more_to_come" : null;
  const after = { ...counted, ...position, reason, failures: 0 };
  await saveRun(pool, after);
  return { ...answer, value: after };
}

async function missingOf({ pool }: IngestService, { source }: CachedSource, webhooks: readonly ListedWebhook[]) {
  const wanted = webhooks
    .filter(({ eventType }) => acceptsType(source, eventType))
    .map((one) => ({ ...one, digest: idKeyOf(one.deliveryId) }));
  const digests = wanted.map(({ digest }) => digest);
  const absent = await unreceivedOf(pool, source.id, digests);
  // An attempt and its repetition have one id.
  const unique = new Map(wanted.map((one) => [one.digest.toString("hex"), one]));
  return [...unique].filter(([digest]) => absent.has(digest)).map(([, one]) => one);
}

/** Takes a missed webhook as if it were pushed now. `other-bytes`: none of its bodies is what the sender signed. */
async function recoverWebhook(service: IngestService, { known, history }: Turn, digest: Buffer, copy: WebhookCopy) {
  const { source } = known;
  const place = { sourceId: source.id, address: addressOf(source), method: "POST", url: ingestPathOf(source) };
  for (const body of copy.bodies) {
    const posted: PostedWebhook = { ...place, headers: copy.headers, body };
    // A copy of a list that holds whole webhooks is not signed: the read key proves it.
    const isSigned = history.fetch !== undefined;
    const judgement = isSigned ? await judgePosted(service, posted, known) : judgeCopy(service, posted, known);
    if (judgement.outcome === "accepted") {
      const outcome = await service.webhookWriter.write({ ...judgement.webhook, origin: "reconciled" });
      if (outcome === "stale")
        throw new AppError("unavailable", "The source is being changed.", { retryAfterSeconds: 1 });
      return "received";
    }
    if (judgement.outcome !== "not-verified") {
      const reason = "reason" in judgement ? judgement.reason : judgement.outcome;
      await failMissed(service.pool, source.id, digest, reason);
      return "refused";
    }
  }
  return "other-bytes";
}

async function fetchOne(service: IngestService, turn: Turn, { digest, reference }: MissedWebhook) {
  const { pool } = service;
  const { run, history, access } = turn;
  const answer = await (history.fetch as NonNullable<typeof history.fetch>)(service, access, reference);
  if (answer.outcome === "away" && answer.reason === "too_large") {
    await markMissed(pool, run.sourceId, digest, "ask");
    return { outcome: "answered", value: null, waitUntil: null } as const;
  }
  if (answer.outcome !== "answered") return answer;
  const recovery = answer.value === null ? null : await recoverWebhook(service, turn, digest, answer.value);
  if (recovery === null) await failMissed(pool, run.sourceId, digest, "gone");
  if (recovery === "received") await settleMissed(service, run, access.sender, [digest]);
  if (recovery === "other-bytes") await markMissed(pool, run.sourceId, digest, "ask");
  return { ...answer, value: null };
}

/** Asks the sender to send a webhook again. It is noted first, because the webhook may arrive before the answer. */
async function askOne(service: IngestService, { run, history, access }: Turn, one: MissedWebhook) {
  const { pool, clock } = service;
  await noteAskedMissed(pool, run.sourceId, one.digest, clock.now());
  const answer = await (history.ask as NonNullable<typeof history.ask>)(service, access, one.reference);
  if (answer.outcome !== "answered") {
    await markMissed(pool, run.sourceId, one.digest, "ask");
    return answer;
  }
  if (!answer.value) await failMissed(pool, run.sourceId, one.digest, "not_sent_again");
  return { ...answer, value: null };
}

/** Asks for one webhook, or waits for those that were asked for, or ends the run. */
async function finish(service: IngestService, turn: Turn): Promise<Progress> {
  const { pool, clock } = service;
  const { run, history, access } = turn;
  const later = new Date(clock.nowMs() + askEveryMs);
  const [first] = history.ask ? await nextMissed(pool, run.id, "ask", 1) : [];
  if (first) {
    const answer = await askOne(service, turn, first);
    return answer.outcome === "answered" ? paced(run, answer.waitUntil ?? later) : { run, outcome: answer };
  }
  const [asked] = await nextMissed(pool, run.id, "asked", 1);
  const isDue = (asked?.askedAt?.getTime() ?? 0) + arrivalMs <= clock.nowMs();
  if (asked && !isDue) return paced(run, later);
  if (asked) await giveUpAskedMissed(pool, run.id);
  await settleMissed(service, run, access.sender, "all");
  return { run, outcome: { outcome: "ended", reason: run.reason, isWhole: !(await hasMoreMissed(pool, run.id)) } };
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
