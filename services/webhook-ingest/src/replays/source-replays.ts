import type { Caller } from "@signalbox/auth";
import type { ThingAction } from "@signalbox/contracts";
import { newId } from "@signalbox/core";
import type { ReplayEngine } from "@signalbox/events";
import { accepted, ok } from "@signalbox/http";
import { audited } from "@signalbox/service";
import type { ListRange, Tx } from "@signalbox/storage";
import type { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { belowSource, webhooksRead, webhooksWrite } from "../sources/own-source.ts";
import type { Source } from "../sources/source.ts";
import type { RejectionRetry, Replay } from "./replay.ts";

/** Largest number of items, more than the bytes of a source's rejections hold. */
export const totalMax = 1_000_000;

/** Returns the number of items of the next transaction: some twenty mebibytes of the largest ones at most. */
export const stepSize = ({ rate }: { readonly rate: number }): number =>
  Math.min(20, Math.max(1, Math.ceil(rate / 10)));

/** Builds the first state of a replay. It never includes what arrives later. */
export function newReplay(
  { clock }: IngestService,
  prefix: "rpl" | "rtr",
  { id: sourceId, accountId }: Source,
  { from, to, rate }: { readonly from: Date | undefined; readonly to?: Date | undefined; readonly rate: number },
) {
  const now = clock.now();
  const fromAt = from ?? now;
  return {
    id: newId(prefix, now.getTime()),
    sourceId,
    accountId,
    status: "running" as const,
    rate,
    fromAt,
    toAt: to && to < now ? to : now,
    positionAt: fromAt,
    positionId: "",
    createdAt: now,
    finishedAt: null,
  };
}

interface Kind<Row extends Replay | RejectionRetry, Path extends string, Noun extends "replay" | "retry"> {
  readonly engine: ReplayEngine<Row>;
  readonly noun: Noun;
  /** The path of the list. */
  readonly path: Path;
  readonly resource: z.ZodType;
  readonly view: (row: Row) => object;
  /** The audited action of a cancellation. */
  readonly cancellation: ThingAction;
}

type Begun<Row> =
  | { readonly outcome: "started"; readonly replay: Row }
  | { readonly outcome: "counted"; readonly count: number };

/** Declares what replays of received webhooks and retries of rejections have in common, each beside its own texts. */
export function sourceReplays<
  Row extends Replay | RejectionRetry,
  Path extends string,
  Noun extends "replay" | "retry",
>(service: IngestService, { engine, noun, path, resource, view, cancellation: action }: Kind<Row, Path, Noun>) {
  type Place = { readonly caller: Caller; readonly params: Readonly<Record<"id" | `${Noun}_id`, string>> };
  const key = `${noun}_id` as const;
  const missing = `There is no such ${noun}.`;
  const one = `${path}/:${key}` as const;
  const answer = (replay: Row) => ok(view(replay));
  return {
    list: {
      ...belowSource(service),
      read: (range: ListRange, parentIds: readonly string[], { caller }: { readonly caller: Caller }) =>
        engine.list(range, caller.accountId, { parentIds }),
      rest: { get: path, item: resource, view },
    },
    record: {
      auth: webhooksRead,
      find: ({ caller, params }: Place) => engine.find(params[key], caller.accountId, params.id),
      missing,
      rest: { get: one, resource, answer },
    },
    start: {
      idempotent: true,
      answer: (begun: Begun<Row>) =>
        begun.outcome === "started" ? accepted(view(begun.replay)) : ok({ count: begun.count }),
    },
    replayOf: (begun: Begun<Row>) => (begun.outcome === "started" ? begun.replay : null),
    countOf: (begun: Begun<Row>) => (begun.outcome === "counted" ? begun.count : null),
    cancel: {
      auth: webhooksWrite,
      audit: action,
      of: {
        find: (tx: Tx, { caller, params }: Place) => engine.lock(tx, params[key], caller.accountId, params.id),
        missing,
      },
      change: (tx: Tx, replay: Row, { caller }: Place) =>
        engine.cancel(tx, replay, audited(caller, { action, subject: replay.sourceId })),
      rest: { post: `${one}/cancel`, responses: { 200: resource }, idempotent: true, answer },
    },
  } as const;
}
