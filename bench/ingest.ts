import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@signalbox/testing";
import { percentile, rounded } from "./bench-parts.ts";
import { costsOf, cpuMsOf, rssMiBOf } from "./delivery.ts";
import { least, most } from "./history.ts";
import type { BenchSource, IngestLoadResult } from "./ingest-load.ts";
import { type IngestSystem, startIngestSystem } from "./ingest-system.ts";
import { numeral } from "./numbers.ts";

const targets = {
  calmP50Ms: 2.5,
  calmP99Ms: 12,
  acceptP99Ms: 20,
  /** Of the plain server, which keeps no history and sends no event. */
  acceptedShare: 0.5,
  deliveredPerSecond: 1_900,
  deliveredOfOnePerSecond: 1_000,
  repeatingPerSecond: 4_000,
  floodFactor: 2,
  slowFactor: 1.5,
  slowMiB: 64,
  cpuMs: 0.45,
  transactions: 0.1,
};
const slowBodies = 500;

export async function run() {
  await using opened = new AsyncDisposableStack();
  const system = await startIngestSystem(opened);
  await system.load({ sources: system.quiet, perSecond: 500, seconds: 5 });
  const bareCalm = await barePacedRow(system, 200);
  const calm = await calmRow(system, bareCalm.row);
  const [barePaced, bareFull] = [await barePacedRow(system, 1_000), await bareFullRow(system)];
  const all = [
    bareCalm,
    calm,
    barePaced,
    await pacedRow(system, barePaced.row),
    bareFull,
    await fullRow(system, bareFull.row.perSecond),
    await repeatingRow(system),
    await floodRow(system),
    await slowRow(system),
  ];
  await system.startDelivering();
  all.push(
    await deliveredRow(system, "accepted and delivered, four sources", system.forwarding, targets.deliveredPerSecond),
  );
  const one = system.forwarding.slice(0, 1);
  all.push(await deliveredRow(system, "accepted and delivered, one source", one, targets.deliveredOfOnePerSecond));
  return { rows: all.map(({ row }) => row), figures: all.flatMap((measured) => measured.figures) };
}

async function calmRow({ load, quiet }: IngestSystem, bare: { readonly p50Ms: number; readonly p99Ms: number }) {
  const row = { what: "200/s", ...figuresOf(await load({ sources: quiet, perSecond: 200 })) };
  return {
    row,
    figures: [
      most("200/s, accepted, p50", targets.calmP50Ms, row.p50Ms, "ms", `plain server ${bare.p50Ms} ms`),
      most("200/s, accepted, p99", targets.calmP99Ms, row.p99Ms, "ms", `plain server ${bare.p99Ms} ms`),
    ],
  };
}

async function pacedRow(
  { load, ingest, pool, quiet }: IngestSystem,
  bare: { readonly p99Ms: number; readonly cpuMs: number },
) {
  const [cpuBefore, before] = [await cpuMsOf(ingest.pid), await costsOf(pool)];
  const result = await load({ sources: quiet, perSecond: 1_000 });
  const accepted = acceptedOf(result);
  const after = await costsOf(pool);
  const cpuMs = hundredths(((await cpuMsOf(ingest.pid)) - cpuBefore) / accepted);
  const transactions = hundredths((after.transactions - before.transactions) / accepted);
  const row = { what: "1,000/s", ...figuresOf(result), cpuMs, transactions };
  return {
    row,
    figures: [
      most("1,000/s, accepted, p99", targets.acceptP99Ms, row.p99Ms, "ms", `plain server ${bare.p99Ms} ms`),
      most("1,000/s, CPU per accepted webhook", targets.cpuMs, cpuMs, "ms", `plain server ${bare.cpuMs} ms`),
      most("1,000/s, transactions per accepted webhook", targets.transactions, transactions),
    ],
  };
}

async function barePacedRow({ load, bare }: IngestSystem, perSecond: number) {
  const { origin, sources, pid } = bare;
  const before = await cpuMsOf(pid);
  const result = await load({ origin, sources, perSecond });
  const cpuMs = hundredths(((await cpuMsOf(pid)) - before) / acceptedOf(result));
  return { row: { what: `baseline: ${numeral(perSecond)}/s`, ...figuresOf(result), cpuMs }, figures: [] };
}

async function bareFullRow({ load, bare: { origin, sources } }: IngestSystem) {
  const result = await load({ origin, sources, perSecond: null });
  return { row: { what: "baseline: as many as it takes", ...figuresOf(result) }, figures: [] };
}

async function fullRow({ load, quiet }: IngestSystem, barePerSecond: number) {
  const row = {
    what: "as many as it takes, forwarding off",
    ...figuresOf(await load({ sources: quiet, perSecond: null, seconds: 30 })),
  };
  const baseline = `plain server ${barePerSecond}/s`;
  const share = hundredths(row.perSecond / barePerSecond);
  return {
    row,
    figures: [
      // Its bound is the share; the capacity page reckons with the rate.
      { figure: "accepted, forwarding off", value: row.perSecond, unit: "/s", baseline, wanted: null },
      least("accepted, forwarding off, share of a plain server", targets.acceptedShare, share, "", baseline),
    ],
  };
}

async function repeatingRow({ load, quiet }: IngestSystem) {
  const row = {
    what: "the same, half of it repetitions",
    ...figuresOf(await load({ sources: quiet, perSecond: null, repeating: true })),
  };
  return { row, figures: [least("accepted, half of it repetitions", targets.repeatingPerSecond, row.perSecond, "/s")] };
}

async function floodRow({ load, flood, quiet }: IngestSystem) {
  const [attacked, spared] = [quiet.slice(0, 1), quiet.slice(1, 2)];
  const calm = figuresOf(await load({ sources: spared, perSecond: 200 }));
  const flooding = flood({ sources: attacked, perSecond: 2_000, seconds: 14, forged: true });
  await sleep(2_000);
  const result = await load({ sources: spared, perSecond: 200 });
  const { statuses } = await flooding;
  const row = {
    what: "200/s beside 2,000/s forged",
    ...figuresOf(result),
    calmP99Ms: calm.p99Ms,
    forged: JSON.stringify(statuses),
  };
  const factor = hundredths(row.p99Ms / calm.p99Ms);
  return {
    row,
    figures: [
      most("200/s, p99 beside 2,000/s forged, times quiet", targets.floodFactor, factor),
      most("200/s, answered 503 beside 2,000/s forged", 0, result.statuses[503] ?? 0),
    ],
  };
}

async function slowRow({ load, ingest, quiet }: IngestSystem) {
  const spared = quiet.slice(1, 2);
  const calm = figuresOf(await load({ sources: spared, perSecond: 200 }));
  const before = await rssMiBOf(ingest.pid);
  const slow = await holdSlowBodies(ingest.origin, quiet);
  const row = {
    what: `200/s beside ${slowBodies} slow bodies`,
    ...figuresOf(await load({ sources: spared, perSecond: 200 })),
    calmP99Ms: calm.p99Ms,
  };
  const grown = (await rssMiBOf(ingest.pid)) - before;
  for (const socket of slow) socket.destroy();
  return {
    row: { ...row, grownMiB: grown },
    figures: [
      most("200/s, p99 beside 500 slow bodies, times quiet", targets.slowFactor, hundredths(row.p99Ms / calm.p99Ms)),
      most("memory of 500 slow bodies", targets.slowMiB, grown, "MiB"),
    ],
  };
}

/** Opens requests whose bodies arrive at the slowest accepted pace, and stay open as long as they are held. */
async function holdSlowBodies(origin: string, sources: readonly BenchSource[]): Promise<Socket[]> {
  const { hostname, port } = new URL(origin);
  const piece = "x".repeat(2_048);
  return Promise.all(
    Array.from({ length: slowBodies }, async (_, nth) => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      const { path = "" } = sources[nth % sources.length] ?? {};
      const address = `10.1.${nth >> 8}.${nth & 255}`;
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: bench\r\nx-forwarded-for: ${address}\r\ncontent-length: 65536\r\n\r\n`,
      );
      const timer = setInterval(() => socket.write(piece), 5_000);
      socket.once("close", () => clearInterval(timer));
      return socket;
    }),
  );
}

async function deliveredRow(
  { load, sink }: IngestSystem,
  what: string,
  sources: readonly BenchSource[],
  wanted: number,
) {
  await sink.take();
  const startedMs = performance.timeOrigin + performance.now();
  const result = await load({ sources, perSecond: null });
  const accepted = acceptedOf(result);
  await eventually(async () => (await sink.count()) >= accepted, { timeoutMs: 300_000 });
  const arrived = await sink.take();
  const lastMs = Math.max(...arrived.map(({ atMs }) => atMs));
  const deliveredPerSecond = Math.round(accepted / ((lastMs - startedMs) / 1000));
  const row = { what, ...figuresOf(result), deliveredPerSecond };
  return { row, figures: [least(what, wanted, deliveredPerSecond, "/s")] };
}

const acceptedOf = ({ statuses }: IngestLoadResult): number => statuses[202] ?? 0;
const hundredths = (value: number): number => Math.round(value * 100) / 100;

function figuresOf(result: IngestLoadResult) {
  const [p50Ms, p99Ms] = [0.5, 0.99].map((part) => rounded(percentile(result.latenciesMs, part))) as [number, number];
  const { 202: accepted = 0, ...others } = result.statuses;
  const perSecond = Math.round(accepted / result.seconds);
  return { perSecond, p50Ms, p99Ms, ...(Object.keys(others).length > 0 && { others: JSON.stringify(others) }) };
}
