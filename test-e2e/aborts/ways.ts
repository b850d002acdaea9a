import type { Random } from "../ledger/random.ts";
import { departures, type Piece, type Visit } from "./visit.ts";
import { socketOpening, tunnelOpening, type WireRequest } from "./wire.ts";

/** A way to abandon a request. */
interface Way {
  readonly name: string;
  visit(request: WireRequest, random: Random): Visit;
}

/** Longer than most answers take, and shorter than a stream lasts. */
const answerMs = 1_000;
const soonMs = 20;

const whole = ({ head, body }: WireRequest) => Buffer.concat([head, body]);
const repeated = (request: WireRequest, random: Random) =>
  Buffer.concat(Array.from({ length: random.between(2, 5) }, () => whole(request)));

/** Leaves after a random short time. */
const soon = (pieces: readonly Piece[], random: Random): Visit => ({
  pieces,
  answerBytes: random.pick([0, 1_000_000]),
  patienceMs: random.between(0, soonMs),
  departure: random.pick(departures),
});

/** Leaves at a random byte of the answer: half of them within its head. */
const duringAnswer = (pieces: readonly Piece[], random: Random): Visit => ({
  pieces,
  answerBytes: random.pick([random.between(1, 600), random.between(1, 20_000)]),
  patienceMs: answerMs,
  departure: random.pick(departures),
});

/** The part of the bytes before a random one. */
export const cutShort = (bytes: Buffer, random: Random): Buffer => bytes.subarray(0, random.between(1, bytes.length));

/** Every way to abandon a request of HTTP/1.1. */
export const ways: readonly Way[] = [
  {
    name: "within the request",
    visit: (request, random) => soon([{ bytes: cutShort(whole(request), random) }], random),
  },
  {
    name: "within the body",
    visit: ({ head, body }, random) =>
      soon([{ bytes: head }, { bytes: body.length > 0 ? cutShort(body, random) : body }], random),
  },
  { name: "after the request", visit: (request, random) => soon([{ bytes: whole(request) }], random) },
  { name: "within the answer", visit: (request, random) => duringAnswer([{ bytes: whole(request) }], random) },
  {
    name: "without reading",
    visit: (request, random) => ({
      pieces: [{ bytes: repeated(request, random) }],
      answerBytes: 0,
      patienceMs: random.between(0, 300),
      departure: random.pick(departures),
    }),
  },
  {
    name: "with requests in a pipe",
    visit: (request, random) => soon([{ bytes: cutShort(repeated(request, random), random) }], random),
  },
  {
    name: "within the first of some answers",
    visit: (request, random) => duringAnswer([{ bytes: repeated(request, random) }], random),
  },
  {
    name: "with an upgrade behind requests",
    visit: (request, random) => {
      const opening = random.pick([socketOpening, tunnelOpening]);
      const bytes = Buffer.concat([repeated(request, random), opening]);
      return random.pick([soon, duringAnswer])([{ bytes }], random);
    },
  },
  {
    name: "before or within an expected body",
    visit: ({ head, body }, random) => {
      const expecting = Buffer.from(head.toString("latin1").replace("\r\n", "\r\nExpect: 100-continue\r\n"), "latin1");
      if (body.length === 0 || random.next() < 0.3) return soon([{ bytes: expecting }], random);
      return soon([{ bytes: expecting }, { bytes: cutShort(body, random), after: "HTTP/1.1 " }], random);
    },
  },
];
