import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { principalProtocol } from "@signalbox/auth";
import { eventually, freePort, testPerson } from "@signalbox/testing";
import autocannon from "autocannon";
import { type ServedGraph, serveOwnGraph, servePublicGraph } from "./gateway-graphs.ts";
import { least, most } from "./history.ts";
import { cpuMsOf, medians, residentMiBOf, rounded } from "./measure.ts";
import { newFolder, openSurroundings, startScript } from "./systems.ts";

const rounds = 3;
const connections = 16;
const memoryConnections = 50;

interface Request {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

interface Row {
  readonly name: string;
  readonly wanted: number;
  readonly next: (at: number) => Request;
}

const product = "{ inStock name price shippingEstimate upc weight }";

/** Builds the heavy query of the public gateway benchmark, with other names and values each time. */
const heavy = (name: string | number, values: number | string): string => {
  const inner = `r${name}: reviews { id body product ${product} }`;
  const author = `author { id username n${name}: name ${inner} }`;
  return `query${values === "$n" ? "($n: Int)" : ""} {
    users { id username name reviews { id body product { inStock name price shippingEstimate upc weight reviews { id body ${author} } } } }
    t${name}: topProducts(first: ${values}) { inStock name price shippingEstimate upc weight reviews { id body ${author} } }
  }`;
};

let unseen = 0;
const publicRows: readonly Row[] = [
  {
    name: "heavy, 64 documents × 7 values",
    wanted: 4,
    next: (at) => ({ query: heavy(at % 64, "$n"), variables: { n: (at % 7) + 1 } }),
  },
  {
    name: "heavy, never seen before",
    wanted: 8,
    next: () => ({ query: heavy(`x${++unseen}`, (unseen % 7) + 1) }),
  },
  {
    // The reviews of some users, with the product of each: two subgraphs one after the other.
    name: "two hops, 64 documents × 7 values",
    wanted: 4,
    next: (at) => ({
      query: `query($n: Int) { u${at % 64}: users(first: $n) { name reviews { body product { name } } } }`,
      variables: { n: (at % 7) + 1 },
    }),
  },
];
const ownRows: readonly Row[] = [
  {
    name: "viewer with images and endpoints",
    wanted: 4,
    next: (at) => ({
      query: `query Viewer${at % 64} {
        viewer {
          id displayName locale timezone
          images(first: 20) { edges { cursor node {
            id url filename mimeType width height sizeBytes title altText tags visibility status createdAt updatedAt
          } } }
          webhookEndpoints(first: 20) { edges { cursor node { id url description eventTypes status createdAt } } }
        }
      }`,
    }),
  },
];

const person = testPerson();
const headers = { ...person.headers, "content-type": "application/json", accept: "application/json" };

export async function run() {
  const onPublic = await measureGraph(servePublicGraph, publicRows);
  const onOwn = await measureGraph(serveOwnGraph, ownRows);
  const found = [...onPublic.found, ...onOwn.found];
  return {
    rows: found.map(({ name, ours, apollo }) => ({
      operations: name,
      oursCpuMs: ours.cpuMs,
      apolloCpuMs: apollo.cpuMs,
      oursPerSecond: ours.perSecond,
      apolloPerSecond: apollo.perSecond,
      oursP97Ms: ours.p97Ms,
      apolloP97Ms: apollo.p97Ms,
    })),
    figures: [
      ...found.map(({ name, wanted, ours, apollo }) =>
        least(
          `${name}, times as fast as Apollo's`,
          wanted,
          rounded(apollo.cpuMs / ours.cpuMs),
          "",
          `Apollo's ${rounded(apollo.cpuMs)} ms of CPU`,
        ),
      ),
      most(
        `resident at ${memoryConnections} connections`,
        200,
        onPublic.residentMiB.ours,
        "MiB",
        `Apollo's ${onPublic.residentMiB.apollo} MiB`,
      ),
    ],
  };
}

interface Side {
  readonly url: string;
  readonly pid: number;
}

/** Measures both sides one after the other in every round; the median over the rounds is reported. */
async function measureGraph(serve: typeof servePublicGraph, rows: readonly Row[]) {
  await using opened = new AsyncDisposableStack();
  const graph = await serve(opened, JSON.stringify(principalProtocol.answerFromPrincipal(person.principal)));
  const file = join(await newFolder(opened), "supergraph.graphql");
  await writeFile(file, graph.supergraphSdl);
  const [ours, apollo] = [await startOurs(opened, graph, file), await startApollo(opened, file)];
  const found = [];
  for (const { name, wanted, next } of rows) {
    await assertSame(ours, apollo, next(0));
    const samples: Record<"ours" | "apollo", Awaited<ReturnType<typeof measured>>>[] = [];
    for (let round = 0; round < rounds; round++)
      samples.push({ ours: await measured(ours, next), apollo: await measured(apollo, next) });
    const side = (of: "ours" | "apollo") => medians(samples.map((sample) => sample[of]));
    found.push({ name, wanted, ours: side("ours"), apollo: side("apollo") });
  }
  for (const side of [ours, apollo]) await cannon(side, (rows[0] as Row).next, memoryConnections);
  return { found, residentMiB: { ours: await residentMiBOf(ours.pid), apollo: await residentMiBOf(apollo.pid) } };
}

/** Starts the gateway service as in production: with credentials, limits, costs and request log. */
async function startOurs(opened: AsyncDisposableStack, { urls }: ServedGraph, supergraphFile: string): Promise<Side> {
  const { start } = await openSurroundings(opened);
  const { origin, pid } = await start("gateway", {
    ...Object.fromEntries(Object.entries(urls).map(([name, url]) => [`${name}.internal-url`, url])),
    "graphql.supergraph": supergraphFile,
    // The load of one caller exceeds the cost limit of a credential: costs are computed for each operation, but none is
    // refused.
    "graphql.limits.mode": "measure",
  });
  return { url: `${origin}/graphql`, pid };
}

/** Starts Apollo's gateway and server with their defaults. */
async function startApollo(opened: AsyncDisposableStack, supergraphFile: string): Promise<Side> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/graphql`;
  const { pid } = startScript(opened, "./processes/gateway-apollo.ts", [supergraphFile, String(port)]);
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: '{"query":"{__typename}"}' };
  await eventually(async () => (await fetch(url, post)).ok, {
    timeoutMs: 60_000,
    message: "Apollo's gateway is ready",
  });
  return { url, pid };
}

async function assertSame(ours: Side, apollo: Side, asked: Request): Promise<void> {
  const answerOf = async ({ url }: Side) =>
    (await fetch(url, { method: "POST", headers, body: JSON.stringify(asked) })).json() as Promise<
      Record<"data" | "errors", unknown>
    >;
  const [own, theirs] = [await answerOf(ours), await answerOf(apollo)];
  if (own.errors || JSON.stringify(own.data) !== JSON.stringify(theirs.data))
    throw new Error(
      `the two answers differ: ${JSON.stringify(own).slice(0, 500)} ${JSON.stringify(theirs).slice(0, 500)}`,
    );
}

async function measured(side: Side, next: Row["next"]) {
  await cannon(side, next, connections);
  const before = await cpuMsOf(side.pid);
  const { requests, latency } = await cannon(side, next, connections);
  const cpuMs = ((await cpuMsOf(side.pid)) - before) / requests.total;
  return { cpuMs, p97Ms: latency.p97_5, perSecond: requests.average };
}

async function cannon({ url }: Side, next: Row["next"], count: number) {
  let at = 0;
  const setupRequest = (request: object) => {
    const body = JSON.stringify(next(at++));
    // The load generator writes into the headers.
    return { ...request, method: "POST", headers: { ...headers }, body };
  };
  const result = await autocannon({ url, requests: [{ setupRequest }], connections: count, duration: 4 });
  if (result.errors > 0 || result.non2xx > 0) throw new Error("requests failed");
  return result;
}
