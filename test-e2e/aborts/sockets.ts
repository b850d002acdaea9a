import type { Headers } from "../audit/world.ts";
import type { Random } from "../ledger/random.ts";
import type { AbortScene } from "./scene.ts";
import { documentOf, subscriptionFields } from "./subscribing.ts";
import { departures, type Visit } from "./visit.ts";
import { cutShort } from "./ways.ts";
import { frameOf, socketOpening } from "./wire.ts";

/** Few ids, so that one is often taken while it is subscribed. */
const ids = ["a", "b", "c"] as const;
const framesMax = 12;

export const acknowledged = "connection_ack";

/** The first message of a socket: credentials are its payload. */
export const initOf = (by: Headers): Buffer => frameOf({ type: "connection_init", payload: by });

export const subscribeTo = (id: string, query: string, resumeAfter?: string): Buffer =>
  frameOf({ type: "subscribe", id, payload: { query, ...(resumeAfter && { extensions: { resumeAfter } }) } });

export const completeOf = (id: string): Buffer => frameOf({ type: "complete", id });

/** A socket whose client sends random messages in few packets, and leaves at any byte of either side. */
export function socketVisit({ owner, cursors }: AbortScene, random: Random): Visit {
  const by = random.pick([owner.headers, {}]);
  const frame = (): Buffer => {
    const id = random.pick(ids);
    return random.pick([
      () => subscribeTo(id, documentOf(random.pick(subscriptionFields))),
      () => subscribeTo(id, documentOf("configChanged"), cursors.configChanged),
      () => subscribeTo(id, documentOf("accountChanged"), cursors.accountChanged),
      () => subscribeTo(id, "{ viewer { id } }"),
      () => completeOf(id),
      () => frameOf({ type: "ping" }),
    ])();
  };
  const messages = Buffer.concat(Array.from({ length: random.between(1, framesMax) }, frame));
  const sent = random.next() < 0.5 ? messages : cutShort(messages, random);
  const opening = random.next() < 0.1 ? cutShort(socketOpening, random) : socketOpening;
  const pieces = [
    { bytes: opening },
    { bytes: initOf(by), after: "\r\n\r\n" },
    { bytes: sent, after: random.next() < 0.9 ? acknowledged : "\r\n\r\n" },
  ];
  return {
    pieces,
    answerBytes: random.pick([0, random.between(1, 2_000), random.between(1, 40_000)]),
    patienceMs: random.between(0, 300),
    departure: random.pick(departures),
  };
}
