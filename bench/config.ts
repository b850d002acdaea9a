import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { FlagSet } from "@signalbox/service";
import autocannon from "autocannon";
import { percentile, rounded } from "./bench-parts.ts";
import { measureEnforced } from "./config-enforced.ts";
import { type ConfigService, definitionOf, startConfigService } from "./config-service.ts";
import { least, most } from "./history.ts";

const rounds = 3;
const seconds = 3;
const connections = 32;
/** The documented number of streams; more is not promised. */
const streams = 10_000;

interface Variant {
  readonly name: string;
  readonly path: string;
  readonly body?: string;
  readonly conditional?: true;
  readonly wanted: number;
}

export async function run() {
  const rows = await compareAll();
  const evaluationNs = measureEvaluation();
  const one = await measureStreams(1, 50);
  const many = await measureStreams(streams, 20);
  const embedded = await measureEnforced("embedded");
  const kafka = await measureEnforced("Kafka");
  const enforced = (mode: string, { p50Ms, p99Ms }: typeof embedded) => [
    most(`change enforced in all services, ${mode}, p50`, 50, p50Ms, "ms"),
    most(`change enforced in all services, ${mode}, p99`, 300, p99Ms, "ms"),
  ];
  return {
    rows,
    figures: [
      ...rows.map(({ what, wanted, ofBare, bare }) => least(what, wanted, ofBare, "", `bare Express ${bare}/s`)),
      most("evaluation of five rules in process", 2_000, evaluationNs, "ns"),
      ...enforced("embedded", embedded),
      ...enforced("Kafka", kafka),
      most("from the log to one stream, p99", 300, one.p99Ms, "ms"),
      most(`from the log to each of ${many.opened} streams, p99`, 500, many.p99Ms, "ms"),
      {
        figure: `memory of each of ${many.opened} idle streams`,
        value: many.kibEach,
        unit: "KiB",
        baseline: "Node's own HTTP takes 21 to 24 KiB",
        wanted: null,
      },
      most(`event loop with ${many.opened} streams, p99`, 50, many.eventLoopP99Ms, "ms"),
    ],
  };
}

async function compareAll() {
  const service = await startConfigService();
  try {
    const context = JSON.stringify({ context: { targetingKey: service.accountId } });
    const bulk = "/ofrep/v1/evaluate/flags";
    const variants: Variant[] = [
      { name: "config 304", path: "/api/v1/config/", conditional: true, wanted: 0.65 },
      { name: "config 200", path: "/api/v1/config/", wanted: 0.6 },
      { name: "OFREP bulk of 100, 304", path: bulk, body: context, conditional: true, wanted: 0.6 },
      { name: "OFREP bulk of 100, 200", path: bulk, body: context, wanted: 0.25 },
      { name: "OFREP single", path: `${bulk}/flag7`, body: context, wanted: 0.45 },
    ];
    const rows: Awaited<ReturnType<typeof compare>>[] = [];
    for (const variant of variants) rows.push(await compare(service, variant));
    return rows;
  } finally {
    await service.close();
  }
}

/** Measures a variant and bare Express alternately; the medians are compared. */
async function compare(service: ConfigService, { name, path, body, conditional, wanted }: Variant) {
  const url = service.url + path;
  const json = "application/json";
  const headers = { ...service.headers, "content-type": json };
  const request = body === undefined ? { headers: service.headers } : { method: "POST", headers, body };
  const answer = await fetch(url, request);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${name} answered ${answer.status}: ${text}`);
  const asked = { ...request.headers, ...(conditional && { "if-none-match": answer.headers.get("etag") ?? "" }) };
  const bare = fork(fileURLToPath(new URL("./bare-server.ts", import.meta.url)), ["/bare", text]);
  const [bareUrl] = (await once(bare, "message")) as [string];
  const load = async (
    url: string,
    request: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ) => {
    const result = await autocannon({ url, requests: [request], connections, duration: seconds });
    if (result.errors > 0) throw new Error(`${name} failed requests`);
    return result.requests.average;
  };
  const bareRequest = body === undefined ? {} : { method: "POST", headers: { "content-type": json }, body };
  const own: number[] = [];
  const express: number[] = [];
  const shares: number[] = [];
  const given = { ...request, headers: asked };
  await load(url, given);
  for (let round = 0; round < rounds; round++) {
    const perSecond = await load(url, given);
    own.push(perSecond);
    const ofBare = await load(bareUrl, bareRequest);
    express.push(ofBare);
    shares.push(perSecond / ofBare);
  }
  bare.kill();
  await once(bare, "exit");
  return {
    what: `${name}, share of bare Express`,
    perSecond: Math.round(percentile(own, 0.5)),
    wanted,
    ofBare: Math.round(percentile(shares, 0.5) * 1_000) / 1_000,
    bare: Math.round(percentile(express, 0.5)),
  };
}

/** Measures the nanoseconds of one warm evaluation, each for another account. */
function measureEvaluation(): number {
  const flags = new FlagSet();
  flags.put("bench", definitionOf("bench"), 1);
  const contexts = Array.from({ length: 10_000 }, (_, at) => ({
    accountId: `acc_${at}`,
    roles: ["owner"],
    locale: "de",
    createdAtMs: 0,
  }));
  const nowMs = Date.now();
  const turn = () => {
    const from = process.hrtime.bigint();
    for (const context of contexts) flags.evaluate("bench", context, nowMs);
    return Number(process.hrtime.bigint() - from) / contexts.length;
  };
  const turns = Array.from({ length: 30 }, turn).slice(10);
  return Math.round(percentile(turns, 0.5));
}

/** Changes a property repeatedly, and measures the time until every stream received each change. */
async function measureStreams(count: number, changes: number) {
  const service = await startConfigService();
  const stream = `${service.url}/api/v1/config/stream`;
  try {
    const beforeKib = await residentKib(service.pid);
    const followers = fork(fileURLToPath(new URL("./stream-followers.ts", import.meta.url)), [
      ...[stream, String(count), service.headers.authorization ?? ""],
    ]);
    const [{ opened }] = (await once(followers, "message")) as [{ opened: number }];
    const kibEach = rounded(((await residentKib(service.pid)) - beforeKib) / opened);
    await service.eventLoopP99Ms();
    const tookMs: number[] = [];
    for (let at = 0; at < changes; at++) {
      const value = 100 + at;
      followers.send({ text: `"limits.maxPageSize":${value}}` });
      await once(followers, "message");
      const report = once(followers, "message") as Promise<[{ tookMs: number[] }]>;
      await service.override("limits.maxPageSize", value);
      for (const each of (await report)[0].tookMs) tookMs.push(each);
    }
    const eventLoopP99Ms = await service.eventLoopP99Ms();
    followers.kill();
    return {
      opened,
      kibEach,
      eventLoopP99Ms,
      p50Ms: rounded(percentile(tookMs, 0.5)),
      p99Ms: rounded(percentile(tookMs, 0.99)),
    };
  } finally {
    await service.close();
  }
}

async function residentKib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
}
