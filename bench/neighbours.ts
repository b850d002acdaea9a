import { setTimeout as sleep } from "node:timers/promises";
import {
  createOidcIssuer,
  createReceiver,
  type OidcIssuer,
  type Receiver,
  readFixture,
  serveListener,
} from "@signalbox/testing";
import { createClient } from "../test-e2e/journey/client.ts";
import { keepUp, type Neighbour, type Neighbourhood, neighbours } from "../test-e2e/neighbours/neighbours.ts";
import { removeData, startEmbeddedSystem } from "../test-e2e/systems/embedded-system.ts";
import { percentile, rounded } from "./bench-parts.ts";
import { type BenchResult, most } from "./history.ts";

/** Longer than a window of the limits, which the load uses up in its first seconds. */
const asks = 400;
const warmUps = 20;
/** Keeps the quiet account far below every limit. */
const pauseMs = 20;

/** Two accounts of one embedded system at its default limits: the waits of one, alone and beside the other's load. */
export async function run(): Promise<BenchResult> {
  await using opened = new AsyncDisposableStack();
  const [issuer, receiver, photo] = await Promise.all([createOidcIssuer(), createReceiver(), readFixture("photo.jpg")]);
  const silent = await serveListener(() => {});
  for (const one of [issuer, receiver, silent]) opened.defer(() => one.close());
  const send = await startSystem(opened, issuer, [receiver, silent]);
  const place: Neighbourhood = { send, photo, receiver, silentUrl: silent.url };
  const waits: Waits[] = [];
  for (const neighbour of neighbours) waits.push(await measure(place, issuer, neighbour));
  const worst = waits.toSorted((one, other) => addedMs(other) - addedMs(one))[0] as Waits;
  return {
    rows: waits.flatMap(({ name, quiet, beside }) => [
      { what: name, account: "quiet", ...quiet },
      { what: name, account: "beside the load", ...beside },
    ]),
    figures: [
      ...waits.map(({ name, quiet, beside }) =>
        most(
          `p99 beside the load, times quiet: ${name.split(":")[0]}`,
          2,
          rounded(beside.p99Ms / quiet.p99Ms),
          "",
          `quiet ${quiet.p99Ms} ms`,
        ),
      ),
      most(
        "longest wait beside any load, more than quiet",
        100,
        rounded(addedMs(worst)),
        "ms",
        `${worst.name.split(":")[0]}, quiet ${worst.quiet.maxMs} ms`,
      ),
    ],
  };
}

/** The waits of the quiet account, alone and beside one load of the other. */
interface Waits {
  readonly name: string;
  readonly quiet: Summary;
  readonly beside: Summary;
}

type Summary = ReturnType<typeof summary>;

const addedMs = ({ quiet, beside }: Waits) => Math.max(0, beside.maxMs - quiet.maxMs);

async function startSystem(
  opened: AsyncDisposableStack,
  { issuer, audience }: OidcIssuer,
  reachable: readonly Pick<Receiver, "port">[],
): Promise<Neighbourhood["send"]> {
  const system = await startEmbeddedSystem({
    properties: {
      "auth.issuers": JSON.stringify([{ name: "bench", issuer, audience }]),
      "webhook-delivery.outbound.allow": reachable.map(({ port }) => `127.0.0.1:${port}`).join(","),
      "log.level": "warn",
    },
  });
  opened.defer(async () => {
    await system.process.kill();
    await removeData(system);
  });
  return createClient(system.baseUrl);
}

async function measure(place: Neighbourhood, issuer: OidcIssuer, { name, load, ask }: Neighbour): Promise<Waits> {
  const asked = await ask(place, newcomer(issuer));
  await waitsOf(asked, warmUps);
  const quiet = summary(await waitsOf(asked, asks));
  await using _load = keepUp(await load(place, newcomer(issuer)));
  return { name, quiet, beside: summary(await waitsOf(asked, asks)) };
}

/** Signs in a new person. */
function newcomer(issuer: OidcIssuer): { readonly authorization: string } {
  const [sub, auth_time] = [crypto.randomUUID(), Math.floor(Date.now() / 1_000)];
  const claims = { sub, name: "Neighbour", email: `${sub}@example.org`, email_verified: true };
  const token = issuer.sign({ ...claims, auth_time, jti: crypto.randomUUID() }, { expiresInSeconds: 900 });
  return { authorization: `Bearer ${token}` };
}

async function waitsOf(ask: () => Promise<unknown>, count: number): Promise<number[]> {
  const waitsMs: number[] = [];
  while (waitsMs.length < count) {
    const startedMs = performance.now();
    await ask();
    waitsMs.push(performance.now() - startedMs);
    await sleep(pauseMs);
  }
  return waitsMs;
}

const summary = (waitsMs: readonly number[]) => ({
  p50Ms: rounded(percentile(waitsMs, 0.5)),
  p99Ms: rounded(percentile(waitsMs, 0.99)),
  maxMs: rounded(Math.max(...waitsMs)),
});
