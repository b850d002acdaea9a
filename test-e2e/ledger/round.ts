import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EndpointFate, Evidence, FaultSpan } from "./evidence.ts";
import type { Fault } from "./faults/fault.ts";
import { createHistory, type History, operationsOf } from "./history.ts";
import type { Random } from "./random.ts";
import { openScene, type Scene, wantedTypes } from "./scene.ts";
import type { LedgerSystem } from "./systems/ledger-system.ts";
import { askWhy } from "./witnesses/chains.ts";
import { PullConsumers } from "./witnesses/consumers.ts";
import { readFinals } from "./witnesses/finals.ts";
import type { createProber } from "./witnesses/prober.ts";
import { sampleHealth } from "./witnesses/reads.ts";
import type { LedgerReceiver } from "./witnesses/receiver.ts";
import { settle } from "./witnesses/residue.ts";
import { Subscribers } from "./witnesses/subscribers.ts";
import { writers } from "./writers/writers.ts";

/** State that outlives a round. */
export interface Course {
  readonly system: LedgerSystem;
  readonly receiver: LedgerReceiver;
  readonly prober: ReturnType<typeof createProber>;
  readonly newToken: () => string;
  /** Folder of the rounds' histories. */
  readonly folder: string;
  /** The endpoints of all rounds so far: one deleted in an earlier round must stay silent in this one. */
  readonly fates: Map<string, EndpointFate>;
}

export interface RoundResult {
  readonly evidence: Evidence;
  /** From the end of the fault until a change that was made after it arrived at the receiver. */
  readonly recoveryMs: number;
  /** From the end of the fault until every killed process runs again; others may have taken over earlier. */
  readonly undoMs: number;
  /** From the last write until nothing was pending. */
  readonly settleMs: number;
}

const recoveryMs = 150_000;
const writesAfterMs = 400;

/** Runs one round: writers write, a fault starts and is undone, everything settles, and the evidence is collected. */
export async function runRound(course: Course, fault: Fault, name: string, random: Random): Promise<RoundResult> {
  const { system, receiver, prober } = course;
  const startedAt = performance.timeOrigin + performance.now();
  const history = createHistory(join(course.folder, `${name}.history.jsonl`));
  const quiet = new AbortController();
  const over = new AbortController();
  const first = fault.comesFirst ? await makeFault(course, fault, history, random) : null;
  const scene = await openScene({ ...course, history, random, round: name, stopped: quiet.signal });
  const subscribers = new Subscribers(scene);
  const consumers = new PullConsumers(scene, receiver);
  const writing = writers.map((writer) => writer.run(scene));
  const probing = prober.run(history, over.signal);
  const sampling = sampleHealth(system, history.now, over.signal);
  try {
    await sleep(random.between(300, 1_200));
    const span = first ?? (await makeFault(course, fault, history, random));
    const recovery = await untilRecovered(receiver, history, span.undoneFrom);
    await sleep(writesAfterMs);
    quiet.abort();
    await Promise.all(writing);
    const quietAt = history.now();
    const residue = await settle(scene);
    const settleMs = history.now() - quietAt;
    await consumers.finish();
    const finals = await readFinals(scene);
    const received = receiver.receipts.filter(({ t }) => t >= startedAt);
    const chains = await askWhy(scene, finals, received);
    over.abort();
    const health = await sampling;
    await probing;
    const operations = operationsOf(history.entries);
    rememberEndpoints(course, scene, operations);
    const log = await system.log.read();
    const evidence: Evidence = {
      ...finals,
      operations,
      residue,
      health,
      faults: [span],
      log,
      subscribers: await subscribers.finish(log),
      received,
      chains,
      endpoints: Object.fromEntries(course.fates),
    };
    return { evidence, recoveryMs: recovery, undoMs: span.until - span.undoneFrom, settleMs };
  } finally {
    quiet.abort();
    over.abort();
    await Promise.allSettled([...writing, probing, sampling, subscribers.close(), consumers.finish()]);
  }
}

async function makeFault({ system, fates, prober }: Course, fault: Fault, history: History, random: Random) {
  const done = history.begin("faults", "fault", { name: fault.name });
  const from = history.now();
  const started = await fault.begin(system, random.fork("fault"));
  await sleep(fault.lastsMs);
  const undoneFrom = history.now();
  await started.undo();
  const until = history.now();
  done("ok", { halted: started.halted });
  if (fault.comesFirst) {
    // A new system does not know the keys and endpoints of the old one.
    fates.clear();
    prober.forget();
    system.log.reset();
  }
  return { name: fault.name, from, undoneFrom, until, halted: started.halted ?? [] } satisfies FaultSpan;
}

/** Waits for a delivery of a change that was made after the fault, and returns the time it took. */
async function untilRecovered(receiver: LedgerReceiver, history: History, since: number): Promise<number> {
  const giveUpAt = performance.now() + recoveryMs;
  let seen = 0;
  const later = new Set<string>();
  for (;;) {
    for (const { op, type, t, value } of history.entries.slice(seen)) {
      if (type !== "invoke" || t < since) continue;
      if (op === "webhook") later.add(value?.delivery);
      if (op === "patch-image") later.add(`${value?.image} ${value?.title}`);
    }
    seen = history.entries.length;
    const arrived = receiver.receipts.find(
      ({ t, subject, status }) => t > since && status === 200 && later.has(subject),
    );
    if (arrived) return arrived.t - since;
    if (performance.now() > giveUpAt) return Number.POSITIVE_INFINITY;
    await sleep(50);
  }
}

function rememberEndpoints({ fates }: Course, { members }: Scene, operations: Evidence["operations"]): void {
  for (const { account, endpoints } of members) {
    for (const [kind, { name }] of Object.entries(endpoints)) {
      const deletion = operations.find(({ op, value }) => op === "delete-endpoint" && value.endpoint === name);
      const deletedAt = deletion?.outcome === "ok" ? deletion.endedAt : null;
      // An endpoint whose deletion was not answered may exist or not, so it is not judged.
      if (deletion && deletedAt === null) continue;
      fates.set(name, { account, types: wantedTypes[kind as keyof typeof wantedTypes], deletedAt });
    }
  }
}
