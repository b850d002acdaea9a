import { answerFromPrincipal } from "@signalbox/auth";
import { testPerson } from "@signalbox/testing";
import autocannon from "autocannon";
import { rounded } from "./bench-parts.ts";
import { type ServedGraph, serveOwnGraph, servePublicGraph } from "./gateway-graphs.ts";
import { cpuMicrosOf, type GatewayProcess, residentMiB, startApollo, startOurs } from "./gateway-systems.ts";
import { least, most } from "./history.ts";
import { heavy, twoHops } from "./review-operations.ts";

const rounds = 3;
const warmUpSeconds = 3;
const measuredSeconds = 4;
const connections = 16;
const memoryConnections = 50;
const residentMiBMax = 200;

interface Operation {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

const image =
  "id url filename mimeType width height sizeBytes title altText tags visibility status createdAt updatedAt";
const endpoint = "id url description eventTypes status createdAt";
const viewer = (name: number) => `query Viewer${name} {
  viewer {
    id displayName locale timezone
    images(first: 20) { edges { cursor node { ${image} } } }
    webhookEndpoints(first: 20) { edges { cursor node { ${endpoint} } } }
  }
}`;

let unseen = 0;

interface Row {
  readonly name: string;
  readonly wanted: number;
  readonly graph: "public" | "own";
  readonly next: (at: number) => Operation;
}

const rows: readonly Row[] = [
  {
    name: "heavy, 64 documents × 7 values",
    wanted: 4,
    graph: "public",
    next: (at) => ({ query: heavy(at % 64, "$n"), variables: { n: (at % 7) + 1 } }),
  },
  {
    name: "heavy, never seen before",
    wanted: 8,
    graph: "public",
    next: () => ({ query: heavy(`x${++unseen}`, (unseen % 7) + 1) }),
  },
  {
    name: "two hops, 64 documents × 7 values",
    wanted: 4,
    graph: "public",
    next: (at) => ({ query: twoHops(at % 64), variables: { n: (at % 7) + 1 } }),
  },
  {
    name: "viewer with images and endpoints",
    wanted: 4,
    graph: "own",
    next: (at) => ({ query: viewer(at % 64) }),
  },
];

interface Sides {
  readonly ours: GatewayProcess;
  readonly apollo: GatewayProcess;
}

interface Sample {
  readonly cpuMicros: number;
  readonly p97Ms: number;
  readonly perSecond: number;
}

interface Found {
  readonly row: Row;
  readonly ours: Sample;
  readonly apollo: Sample;
}

const person = testPerson();
const headers = { ...person.headers, "content-type": "application/json", accept: "application/json" };
const principalAnswer = () => JSON.stringify(answerFromPrincipal(person.principal));

export async function run() {
  const onPublic = await measureGraph(await servePublicGraph(principalAnswer), "public");
  const onOwn = await measureGraph(await serveOwnGraph(principalAnswer), "own");
  const found = [...onPublic.found, ...onOwn.found];
  const memory = onPublic.residentMiB;
  return {
    rows: found.map(({ row, ours, apollo }) => ({
      operations: row.name,
      oursCpuMicros: Math.round(ours.cpuMicros),
      apolloCpuMicros: Math.round(apollo.cpuMicros),
      timesAsFast: rounded(apollo.cpuMicros / ours.cpuMicros),
      oursPerSecond: Math.round(ours.perSecond),
      apolloPerSecond: Math.round(apollo.perSecond),
      oursP97Ms: ours.p97Ms,
      apolloP97Ms: apollo.p97Ms,
    })),
    figures: [
      ...found.map(({ row, ours, apollo }) =>
        least(
          `${row.name}, times as fast as Apollo's`,
          row.wanted,
          rounded(apollo.cpuMicros / ours.cpuMicros),
          "",
          `Apollo's ${rounded(apollo.cpuMicros / 1000)} ms of CPU`,
        ),
      ),
      most(
        `resident at ${memoryConnections} connections`,
        residentMiBMax,
        memory.ours,
        "MiB",
        `Apollo's ${memory.apollo} MiB`,
      ),
    ],
  };
}

/** Measures both sides one after the other in every round; the median over the rounds is reported. */
async function measureGraph(graph: ServedGraph, name: Row["graph"]) {
  await using opened = new AsyncDisposableStack();
  opened.defer(() => graph.close());
  const sides: Sides = { ours: await startOurs(graph), apollo: await startApollo(graph) };
  for (const side of Object.values(sides)) opened.defer(() => side.close());
  const found: Found[] = [];
  for (const row of rows.filter((row) => row.graph === name)) {
    await assertSame(sides, row.next(0));
    const samples = [];
    for (let round = 0; round < rounds; round++)
      samples.push({ ours: await load(sides.ours, row), apollo: await load(sides.apollo, row) });
    const ours = medianOf(samples.map(({ ours }) => ours));
    found.push({ row, ours, apollo: medianOf(samples.map(({ apollo }) => apollo)) });
  }
  const [first] = rows;
  for (const side of Object.values(sides)) if (name === "public" && first) await load(side, first, memoryConnections);
  const memory = { ours: await residentMiB(sides.ours.pid), apollo: await residentMiB(sides.apollo.pid) };
  return { found, residentMiB: memory };
}

async function assertSame({ ours, apollo }: Sides, asked: Operation): Promise<void> {
  const answerOf = async ({ url }: GatewayProcess) =>
    (await fetch(url, { method: "POST", headers, body: JSON.stringify(asked) })).text();
  const [own, theirs] = (await Promise.all([answerOf(ours), answerOf(apollo)])).map((text) => JSON.parse(text));
  if (own.errors || JSON.stringify(own.data) !== JSON.stringify(theirs.data))
    throw new Error(
      `the two answers differ: ${JSON.stringify(own).slice(0, 500)} ${JSON.stringify(theirs).slice(0, 500)}`,
    );
}

async function load({ url, pid }: GatewayProcess, { next }: Row, count = connections): Promise<Sample> {
  let at = 0;
  const requests = [
    {
      setupRequest: (request: object) => {
        const body = JSON.stringify(next(at++));
        // The load generator writes into the headers.
        return { ...request, method: "POST", headers: { ...headers }, body };
      },
    },
  ];
  await autocannon({ url, requests, connections: count, duration: warmUpSeconds });
  const before = await cpuMicrosOf(pid);
  const result = await autocannon({ url, requests, connections: count, duration: measuredSeconds });
  const cpuMicros = ((await cpuMicrosOf(pid)) - before) / result.requests.total;
  if (result.errors > 0 || result.non2xx > 0) throw new Error("requests failed");
  return { cpuMicros, p97Ms: result.latency.p97_5, perSecond: result.requests.average };
}

function medianOf(samples: readonly Sample[]): Sample {
  const middle = (read: (sample: Sample) => number) =>
    samples.map(read).toSorted((a, b) => a - b)[samples.length >> 1] ?? Number.NaN;
  return {
    cpuMicros: middle(({ cpuMicros }) => cpuMicros),
    p97Ms: middle(({ p97Ms }) => p97Ms),
    perSecond: middle(({ perSecond }) => perSecond),
  };
}
