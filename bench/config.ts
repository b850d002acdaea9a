import { setTimeout as sleep } from "node:timers/promises";
import autocannon from "autocannon";
import { removeData, startEmbeddedSystem } from "../test-e2e/systems/embedded-system.ts";
import { type ConfigService, startConfigService } from "./config-system.ts";
import { least, most } from "./history.ts";
import { medians, residentMiBOf, rounded, summaryOf } from "./measure.ts";
import { forked } from "./systems.ts";

const rounds = 3;
/** The documented number of streams; more is not promised. */
const streams = 10_000;

export async function run() {
  const rows = await compareAll();
  const many = await measureStreams();
  const enforced = await measureEnforced();
  return {
    rows: [...rows, { what: "changes enforced in all services", ...enforced }, { what: `${streams} streams`, ...many }],
    figures: [
      ...rows.map(({ what, wanted, share, bare }) => least(what, wanted, share, "", `bare Express ${bare}/s`)),
      most("change enforced in all services, embedded, p50", 50, enforced.p50Ms, "ms"),
      most("change enforced in all services, embedded, p99", 300, enforced.p99Ms, "ms"),
      most(`from the log to each of ${streams} streams, p99`, 500, many.p99Ms, "ms"),
      most(`event loop with ${streams} streams, p99`, 50, many.eventLoopP99Ms, "ms"),
      {
        figure: `memory of each of ${streams} idle streams`,
        value: many.kibEach,
        unit: "KiB",
        baseline: "Node's own HTTP takes 21 to 24 KiB",
        wanted: null,
      },
    ],
  };
}

async function compareAll() {
  await using opened = new AsyncDisposableStack();
  const service = await startConfigService(opened);
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ context: { targetingKey: service.accountId } });
  const bulk = { path: "/ofrep/v1/evaluate/flags", request: { method: "POST", headers: json, body } };
  const config = { path: "/api/v1/config/", request: {} };
  return [
    await compare(service, { name: "config 304", ...config, isConditional: true, wanted: 0.65 }),
    await compare(service, { name: "config 200", ...config, isConditional: false, wanted: 0.6 }),
    await compare(service, { name: "OFREP bulk of 100, 304", ...bulk, isConditional: true, wanted: 0.6 }),
    await compare(service, { name: "OFREP bulk of 100, 200", ...bulk, isConditional: false, wanted: 0.25 }),
  ];
}

interface Variant {
  readonly name: string;
  readonly path: string;
  readonly request: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string };
  readonly isConditional: boolean;
  readonly wanted: number;
}

/** Measures a variant and bare Express alternately; the medians are compared. */
async function compare(service: ConfigService, { name, path, request, isConditional, wanted }: Variant) {
  await using opened = new AsyncDisposableStack();
  const url = service.origin + path;
  const headers = { ...service.headers, ...request.headers };
  const answer = await fetch(url, { ...request, headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${name} answered ${answer.status}: ${text}`);
  const { first: bareUrl } = await forked<string>(opened, "bare-server", ["/bare", text]);
  const load = async (url: string, request: Variant["request"]) => {
    const result = await autocannon({ url, requests: [request], connections: 32, duration: 3 });
    if (result.errors > 0) throw new Error(`${name} failed requests`);
    return result.requests.average;
  };
  const etag = isConditional && { "if-none-match": answer.headers.get("etag") ?? "" };
  const ours = { ...request, headers: { ...headers, ...etag } };
  await load(url, ours); // the first seconds compile the code
  const samples = [];
  for (let round = 0; round < rounds; round++) {
    const [perSecond, bare] = [await load(url, ours), await load(bareUrl, request)];
    samples.push({ perSecond, bare, share: perSecond / bare });
  }
  return { what: `${name}, share of bare Express`, wanted, ...medians(samples) };
}

/** Changes a property repeatedly, and measures the time until every stream received each change. */
async function measureStreams() {
  await using opened = new AsyncDisposableStack();
  const service = await startConfigService(opened);
  const before = await residentMiBOf(service.pid);
  const received = await service.follow(streams);
  const kibEach = rounded(((await residentMiBOf(service.pid)) - before) * (1_024 / streams));
  await eventLoopP99Ms(service);
  const tookMs: number[] = [];
  for (let value = 100; value < 120; value++) {
    const change = () => service.override("limits.maxPageSize", value);
    tookMs.push(...(await received(`"limits.maxPageSize":${value}}`, change)));
  }
  return { kibEach, eventLoopP99Ms: await eventLoopP99Ms(service), ...summaryOf(tookMs) };
}

/** Reads the delay of the event loop since the last time. */
async function eventLoopP99Ms({ managementUrl }: ConfigService): Promise<number> {
  const text = await (await fetch(`${managementUrl}/metrics`)).text();
  return rounded(Number(/^nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1]) * 1_000);
}

const changes = 60;
const [less, more] = [50, 60];
/** A list of every service that has one, requested with a length between the two limits. */
const lists = ["/images", "/api/account/api-keys/", "/api/v1/webhooks/endpoints", "/api/v1/webhooks/sources"].map(
  (path) => `${path}?limit=${(less + more) / 2}`,
);
const mutation = `mutation($input: SetPropertyInput!) { setProperty(input: $input) { override { revision } errors { message } } }`;

/** Measures the time from the answer to a change until every service of an embedded system enforces it. */
async function measureEnforced() {
  await using opened = new AsyncDisposableStack();
  const system = await startEmbeddedSystem({
    properties: {
      "http.rate-limit.credential.requests": "1000000",
      "http.rate-limit.credential.burst": "1000000",
      "http.rate-limit.account.requests": "1000000",
    },
  });
  opened.defer(async () => {
    await system.stop();
    await removeData(system);
  });
  const headers = { "x-api-key": system.apiKey, "content-type": "application/json" };
  const tookMs: number[] = [];
  let expectedRevision = "0";
  for (let at = 0; at < changes; at++) {
    const [value, wanted] = at % 2 === 0 ? [less, 400] : [more, 200];
    const input = { name: "limits.maxPageSize", value, expectedRevision };
    const body = JSON.stringify({ query: mutation, variables: { input } });
    const changed = await fetch(`${system.baseUrl}/graphql`, { method: "POST", headers, body });
    const { data } = (await changed.json()) as { data: { setProperty: { override: { revision: string } } } };
    const fromMs = performance.now();
    expectedRevision = data.setProperty.override.revision;
    await Promise.all(
      lists.map(async (path) => {
        for (let status = 0; status !== wanted; await sleep(5)) {
          const answer = await fetch(system.baseUrl + path, { headers });
          await answer.arrayBuffer();
          status = answer.status;
        }
      }),
    );
    tookMs.push(performance.now() - fromMs);
  }
  return summaryOf(tookMs.slice(10));
}
