import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import { type AccountService, startAccountService } from "./account-service.ts";
import { percentile, rounded } from "./bench-parts.ts";
import { least, most } from "./history.ts";
import { type PacedRequest, pacedLoad } from "./paced-load.ts";

const path = "/api/account/";
const rounds = 5;
const warmUpSeconds = 1;
const measuredSeconds = 3;
/** The latencies at half load are computed for each second, and their median is reported as well. */
const pacedSeconds = 10;
const connections = 32;
/** Accounts read in rotation, so that concurrent requests mostly differ. */
const readers = 20;
/** Accounts changed in rotation, and not read meanwhile. */
const writers = 180;
const variants = ["bare", "token", "api-key", "not-modified", "patch"] as const;
type Variant = (typeof variants)[number];

interface Sample {
  readonly perSecond: number;
  /** Processor time of the server alone: comparable even on a busy machine. */
  readonly cpuMicros: number;
}

type Round = Record<Variant, Sample>;

/**
 * Measures all variants one after the other in every round and compares them with each other; the median over the
 * rounds is reported, so that other load on the machine has little influence.
 */
export async function run() {
  const service = await startAccountService({ accounts: readers + writers });
  try {
    const bare = await startBare(service);
    const measured: Round[] = [];
    for (let round = 0; round < rounds; round++) measured.push(await measureRound(service, bare));
    await bare.stop();
    const perSecond = (variant: Variant) => Math.round(median(measured.map((round) => round[variant].perSecond)));
    return report(measured, perSecond, await measurePaced(service, perSecond));
  } finally {
    await service.close();
  }
}

interface PacedResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

type Paced = Readonly<Partial<Record<Variant, PacedResult>>>;

function report(measured: readonly Round[], perSecond: (variant: Variant) => number, paced: Paced) {
  const ratio = (variant: Variant, to: Variant) =>
    share(median(measured.map((round) => round[variant].perSecond / round[to].perSecond)));
  const rows = variants.map((variant) => ({
    variant,
    requestsPerSecond: perSecond(variant),
    ofBare: ratio(variant, "bare"),
    cpuMicros: Math.round(median(measured.map((round) => round[variant].cpuMicros))),
    pacedPerSecond: paced[variant]?.perSecond ?? null,
    p50Ms: paced[variant]?.p50Ms ?? null,
    p99Ms: paced[variant]?.p99Ms ?? null,
  }));
  const slowest = Math.max(...Object.values(paced).map(({ p99Ms }) => p99Ms));
  const bare = `bare Express ${perSecond("bare")}/s`;
  return {
    rows,
    figures: [
      least("read with a token, share of bare Express", 0.25, ratio("token", "bare"), "", bare),
      least("304, share of bare Express", 0.5, ratio("not-modified", "bare"), "", bare),
      least("read with an API key, share of that with a token", 0.9, ratio("api-key", "token")),
      least("changes", 2_500, perSecond("patch"), "/s", bare),
      most("p99 at half of each maximum", 20, slowest, "ms"),
    ],
  };
}

async function measureRound(service: AccountService, bare: { url: string; pid: number }): Promise<Round> {
  const target = { url: service.url + path, pid: service.pid };
  const requests = requestsTo(service);
  return {
    bare: await load(bare, requests.token),
    token: await load(target, requests.token),
    "api-key": await load(target, requests["api-key"]),
    "not-modified": await load(target, requests["not-modified"]),
    patch: await load(target, requests.patch),
  };
}

/** Builds the requests of each variant, in rotation. */
function requestsTo(service: AccountService) {
  const each = (headersOf: (reader: AccountService["accounts"][number]) => Record<string, string>): PacedRequest[] =>
    readersOf(service).map((reader) => ({ headers: headersOf(reader) }));
  const patch: Requests = [{ setupRequest: (request) => ({ ...request, ...change(service) }) }];
  return {
    token: each(({ authorization }) => ({ authorization })),
    "api-key": each(({ apiKey }) => keyHeader(apiKey)),
    "not-modified": each(known),
    patch,
  };
}

const readersOf = (service: AccountService) => service.accounts.slice(0, readers);
const keyHeader = (apiKey: string) => ({ "x-api-key": apiKey });
const known = ({ authorization, etag }: AccountService["accounts"][number]) => ({
  authorization,
  "if-none-match": etag,
});

/** Measures at half of each variant's maximum, evenly. */
async function measurePaced(service: AccountService, perSecond: (variant: Variant) => number): Promise<Paced> {
  const half = async (variant: Exclude<Variant, "bare">, next: () => PacedRequest): Promise<PacedResult> => {
    const pace = { url: service.url + path, next, perSecond: Math.round(perSecond(variant) / 2), connections };
    const latenciesMs = await pacedLoad({ ...pace, seconds: warmUpSeconds + pacedSeconds });
    const bySecond = Array.from({ length: pacedSeconds }, (_, second) => {
      const start = (warmUpSeconds + second) * pace.perSecond;
      return latenciesMs.slice(start, start + pace.perSecond);
    });
    const at = (share: number) => rounded(median(bySecond.map((second) => percentile(second, share))));
    return { perSecond: pace.perSecond, p50Ms: at(0.5), p99Ms: at(0.99) };
  };
  const requests = requestsTo(service);
  return {
    token: await half("token", byTurns(requests.token)),
    "api-key": await half("api-key", byTurns(requests["api-key"])),
    "not-modified": await half("not-modified", byTurns(requests["not-modified"])),
    patch: await half("patch", () => change(service)),
  };
}

function byTurns(requests: readonly PacedRequest[]): () => PacedRequest {
  let turn = 0;
  return () => requests[turn++ % requests.length] as PacedRequest;
}

let changes = 0;

/** Builds an effective change, of one account after the other. */
function change({ accounts }: AccountService) {
  const number = changes++;
  const { authorization } = accounts[readers + (number % writers)] as AccountService["accounts"][number];
  return {
    method: "PATCH" as const,
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ display_name: `Number ${number}` }),
  };
}

type Requests = NonNullable<Parameters<typeof autocannon>[0]["requests"]>;

/** The load generator counts 304 as a failure. */
async function load({ url, pid }: { url: string; pid: number }, requests: Requests): Promise<Sample> {
  await autocannon({ url, requests, connections, duration: warmUpSeconds });
  const before = await cpuMicrosOf(pid);
  const result = await autocannon({ url, requests, connections, duration: measuredSeconds });
  const cpuMicros = ((await cpuMicrosOf(pid)) - before) / result.requests.total;
  const answered304 = requests.some(({ headers }) => headers?.["if-none-match"] !== undefined);
  if (result.errors > 0 || (!answered304 && result.non2xx > 0)) throw new Error("requests failed");
  return { perSecond: result.requests.average, cpuMicros };
}

/** Reads the user and system time (proc(5), stat) in ticks, of which Linux has a hundred in a second. */
async function cpuMicrosOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Starts Express 5 with one route, which answers the same bytes as the service. */
async function startBare(service: AccountService) {
  const { authorization } = readersOf(service)[0] as AccountService["accounts"][number];
  const body = await (await fetch(service.url + path, { headers: { authorization } })).text();
  const process = fork(fileURLToPath(new URL("./bare-server.ts", import.meta.url)), [path, body]);
  const [url] = (await once(process, "message")) as [string];
  return {
    url,
    pid: process.pid as number,
    stop: async () => {
      process.kill();
      await once(process, "exit");
    },
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

const share = (ratio: number): number => Math.round(ratio * 1000) / 1000;
