import assert from "node:assert/strict";
import { eventually } from "@signalbox/testing";
import { inLanes } from "../attacks/runner/run-attacks.ts";
import type { Headers } from "../audit/world.ts";
import type { Random } from "../ledger/random.ts";
import type { AbortScene } from "./scene.ts";
import { acknowledged, completeOf, initOf, subscribeTo } from "./sockets.ts";
import { connectionsLeft, readState } from "./state.ts";
import { streamTargets } from "./streams.ts";
import { documentOf } from "./subscribing.ts";
import { departures, makeVisit, type Piece, type Visit } from "./visit.ts";
import { socketOpening, tunnelOpening, wireRequest } from "./wire.ts";

const lanes = 8;

/** Visits of strangers who once ended the process, or left something in it for good. */
interface Stranger {
  readonly name: string;
  visit(scene: AbortScene, random: Random): Promise<void>;
}

/** Each was seen on a running system. */
export const strangers: readonly Stranger[] = [
  { name: "leaves while missed messages are sent again", visit: leavesDuringReplay },
  { name: "subscribes, completes and subscribes in one packet", visit: subscribesTwice },
  { name: "asks for a tunnel or a socket behind pipelined requests", visit: upgradesBehindRequests },
  { name: "resets polls before they are answered", visit: resetsPolls },
];

async function leavesDuringReplay(scene: AbortScene, random: Random): Promise<void> {
  const { baseUrl } = scene.system;
  const streams = streamTargets(scene).filter(({ name }) => name.includes("resumed"));
  const visits = await Promise.all(
    streams.map(async (stream) => {
      const { head, body } = await wireRequest(await stream.make());
      return [{ bytes: Buffer.concat([head, body]) }] as readonly Piece[];
    }),
  );
  const { cursors } = scene;
  const resume = subscribeTo("x", documentOf("configChanged"), cursors.configChanged);
  visits.push(socketPieces({}, resume));
  await times(40, (nth) =>
    makeVisit(baseUrl, leaving(visits[nth % visits.length] ?? [], random, { answerBytes: random.between(1, 8_000) })),
  );
}

async function subscribesTwice({ system, owner }: AbortScene, random: Random): Promise<void> {
  const subscribe = subscribeTo("x", documentOf("configChanged"));
  const packet = Buffer.concat([subscribe, completeOf("x"), subscribe]);
  await times(40, (nth) =>
    makeVisit(
      system.baseUrl,
      leaving(socketPieces(nth % 2 === 0 ? owner.headers : {}, packet), random, { patienceMs: 200 }),
    ),
  );
}

async function upgradesBehindRequests({ system, owner }: AbortScene, random: Random): Promise<void> {
  const { head } = await wireRequest({ by: owner.headers, path: "/api/account/", request: {} });
  await times(80, (nth) => {
    const opening = nth % 2 === 0 ? tunnelOpening : socketOpening;
    return makeVisit(system.baseUrl, leaving([{ bytes: Buffer.concat([head, head, head, opening]) }], random));
  });
}

/** Polls of new keys wait for messages. Published after their clients have left, all of them are there for the next. */
async function resetsPolls(scene: AbortScene, random: Random): Promise<void> {
  const { system, world, person } = scene;
  const { headers } = await person();
  const endpoints = "/api/v1/webhooks/endpoints";
  const make = { type: "pull", event_types: ["letter.*"] };
  const { id } = (await world.send(headers, endpoints, { body: make })).json;
  const path = `${endpoints}/${id}/messages`;
  const polls = 40;
  const body = { name: "poll", scopes: ["webhooks:write"] };
  const keys: string[] = [];
  while (keys.length < polls) keys.push((await world.send(headers, "/api/account/api-keys/", { body })).json.key);
  await times(polls, async (nth) => {
    const by = { "x-api-key": keys[nth] ?? "" };
    const { head } = await wireRequest({ by, path: `${path}?wait_seconds=20`, request: {} });
    const patienceMs = random.between(0, 7);
    await makeVisit(system.baseUrl, { pieces: [{ bytes: head }], answerBytes: 0, patienceMs, departure: "reset" });
  });
  // From here on the process knows that they have left.
  await eventually(async () => !((await readState(scene))[connectionsLeft] ?? 0));
  const letters = Array.from({ length: polls }, (_, nth) => ({ type: "letter.sent", data: { nth } }));
  await world.send(headers, "/api/v1/webhooks/events", { body: letters });
  const taken = new Set<string>();
  for (let tries = 0; taken.size < polls && tries < 10; tries++) {
    const { items } = (await world.send(headers, `${path}?wait_seconds=2&limit=${polls}`)).json;
    for (const { lease_id, attempt } of items) if (attempt === 1) taken.add(lease_id);
  }
  assert.equal(taken.size, polls, "messages are leased by polls whose clients have left");
  await world.send(headers, `${path}/ack`, { body: { lease_ids: [...taken] } });
}

const times = (count: number, visit: (nth: number) => Promise<unknown>): Promise<void> =>
  inLanes(
    Array.from({ length: count }, (_, nth) => nth),
    lanes,
    visit,
  );

const socketPieces = (by: Headers, messages: Buffer): Piece[] => [
  { bytes: socketOpening },
  { bytes: initOf(by), after: "\r\n\r\n" },
  { bytes: messages, after: acknowledged },
];

const leaving = (pieces: readonly Piece[], random: Random, how: Partial<Visit> = {}): Visit => ({
  pieces,
  answerBytes: 0,
  patienceMs: how.answerBytes === undefined ? random.between(0, 20) : 1_000,
  departure: random.pick(departures),
  ...how,
});
