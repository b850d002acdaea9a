import { createOidcIssuer, createReceiver, type OidcIssuer, readFixture, serveListener } from "@signalbox/testing";
import { createClient } from "../test-e2e/journey/client.ts";
import { keepUp, type Neighbour, type Neighbourhood, neighbours } from "../test-e2e/neighbours/neighbours.ts";
import { removeData, startEmbeddedSystem } from "../test-e2e/systems/embedded-system.ts";
import { type BenchResult, most } from "./history.ts";
import { rounded, summaryOf, waitsOf } from "./measure.ts";

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
  const system = await startEmbeddedSystem({
    properties: {
      "auth.issuers": JSON.stringify([{ name: "bench", issuer: issuer.issuer, audience: issuer.audience }]),
      "webhook-delivery.outbound.allow": [receiver, silent].map(({ port }) => `127.0.0.1:${port}`).join(","),
      "log.level": "warn",
    },
  });
  opened.defer(async () => {
    await system.process.kill();
    await removeData(system);
  });
  const place = { send: createClient(system.baseUrl), photo, receiver, silentUrl: silent.url };
  const waits = [];
  for (const neighbour of neighbours) waits.push(await measure(place, issuer, neighbour));
  const [worst] = waits.toSorted((one, other) => other.addedMs - one.addedMs);
  return {
    rows: waits.flatMap(({ name, quiet, beside }) => [
      { what: name, account: "quiet", ...quiet },
      { what: name, account: "beside the load", ...beside },
    ]),
    figures: [
      ...waits.map(({ name, quiet, beside }) => {
        const times = rounded(beside.p99Ms / quiet.p99Ms);
        return most(`p99 beside the load, times quiet: ${name}`, 2, times, "", `quiet ${quiet.p99Ms} ms`);
      }),
      most(
        "longest wait beside any load, more than quiet",
        100,
        worst?.addedMs ?? Number.NaN,
        "ms",
        `${worst?.name}, quiet ${worst?.quiet.maxMs} ms`,
      ),
    ],
  };
}

/** Measures the waits of a quiet account, alone and beside one load of another one. */
async function measure(place: Neighbourhood, issuer: OidcIssuer, { name, load, ask }: Neighbour) {
  const asked = await ask(place, newcomer(issuer));
  await waitsOf(warmUps, pauseMs, asked);
  const summary = async () => {
    const waitsMs = await waitsOf(asks, pauseMs, asked);
    return { ...summaryOf(waitsMs), maxMs: rounded(Math.max(...waitsMs)) };
  };
  const quiet = await summary();
  await using _load = keepUp(await load(place, newcomer(issuer)));
  const beside = await summary();
  const [shortName = name] = name.split(":");
  return { name: shortName, quiet, beside, addedMs: rounded(Math.max(0, beside.maxMs - quiet.maxMs)) };
}

/** Signs in a new person. */
function newcomer(issuer: OidcIssuer): { readonly authorization: string } {
  const [sub, auth_time] = [crypto.randomUUID(), Math.floor(Date.now() / 1_000)];
  const claims = { sub, name: "Neighbour", email: `${sub}@example.org`, email_verified: true };
  const token = issuer.sign({ ...claims, auth_time, jti: crypto.randomUUID() }, { expiresInSeconds: 900 });
  return { authorization: `Bearer ${token}` };
}
