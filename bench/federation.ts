import { createHash } from "node:crypto";
import process from "node:process";
import { ApolloGateway } from "@apollo/gateway";
import { setVariable } from "@signalbox/config";
import { openExecutor } from "@signalbox/federation";
import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  validate,
} from "graphql";
import { rounded } from "./bench-parts.ts";
import { type BenchGraph, openBenchGraph } from "./federation-graph.ts";
import { least } from "./history.ts";
import { heavy, twoHops } from "./review-operations.ts";

const rounds = 5;
const mib = 2 ** 20;

interface Operation {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Runs a valid operation and serializes its data. */
interface Side {
  readonly schema: GraphQLSchema;
  run(asked: Operation, document: DocumentNode, operation: OperationDefinitionNode): Promise<string>;
}

let unseen = 0;

/** Repeated documents, and unique ones. */
const rows: readonly { name: string; wanted: number; count: number; next: (at: number) => Operation }[] = [
  {
    name: "heavy, 64 documents × 7 values",
    wanted: 4,
    count: 200,
    next: (at) => ({ text: heavy(at % 64, "$n"), variables: { n: (at % 7) + 1 } }),
  },
  {
    name: "heavy, never seen before",
    wanted: 8,
    count: 60,
    next: () => ({ text: heavy(`x${++unseen}`, (unseen % 7) + 1), variables: {} }),
  },
  {
    name: "two hops, 64 documents × 7 values",
    wanted: 4,
    count: 1_000,
    next: (at) => ({ text: twoHops(at % 64), variables: { n: (at % 7) + 1 } }),
  },
];

export async function run() {
  const graph = openBenchGraph();
  const sides = { ours: await openOurs(graph), apollo: await openApollo(graph) };
  const found = [];
  for (const row of rows) {
    await assertSame(sides, row.next(0));
    await measure(sides.ours, row);
    await measure(sides.apollo, row);
    const samples = [];
    for (let round = 0; round < rounds; round++)
      samples.push({ ours: await measure(sides.ours, row), apollo: await measure(sides.apollo, row) });
    found.push({
      row,
      ours: median(samples.map(({ ours }) => ours)),
      apollo: median(samples.map(({ apollo }) => apollo)),
    });
  }
  return {
    rows: found.map(({ row, ours, apollo }) => ({
      operations: row.name,
      oursCpuMicros: Math.round(ours),
      apolloCpuMicros: Math.round(apollo),
      timesAsFast: rounded(apollo / ours),
    })),
    figures: found.map(({ row, ours, apollo }) =>
      least(
        `${row.name}, times as fast as Apollo's`,
        row.wanted,
        rounded(apollo / ours),
        "",
        `Apollo's ${rounded(apollo / 1000)} ms of CPU`,
      ),
    ),
  };
}

async function openOurs({ supergraphSdl, answer }: BenchGraph): Promise<Side> {
  const executor = await openExecutor({
    supergraphSdl,
    planMsMax: 10_000,
    planBytesMax: 16 * mib,
    send: async ({ subgraph, body }) => JSON.parse(await answer(subgraph, body)),
  });
  return {
    schema: executor.schema,
    async run({ text, variables }, document, operation) {
      const ran = await executor.execute({ text, document, operation, variables, context: null });
      if ("uncovered" in ran || ran.errors.length > 0) throw new Error(JSON.stringify(ran));
      return ran.data;
    },
  };
}

async function openApollo({ supergraphSdl, answer }: BenchGraph): Promise<Side> {
  setVariable("APOLLO_TELEMETRY_DISABLED", "1");
  const gateway = new ApolloGateway({
    supergraphSdl,
    buildService: ({ name }) => ({
      process: async ({ request: { query, variables } }) =>
        JSON.parse(await answer(name, JSON.stringify({ query, variables }))),
    }),
  });
  const { schema, executor } = await gateway.load();
  return {
    schema,
    async run({ text, variables }, document, operation) {
      const queryHash = createHash("sha256").update(text).digest("hex");
      const request = { request: { query: text, variables }, document, operation, source: text, queryHash };
      const asked = { ...request, operationName: null, schema, context: {}, metrics: {}, logger: console };
      const result = await executor(asked as unknown as Parameters<typeof executor>[0]);
      if (result.errors) throw new Error(JSON.stringify(result.errors));
      return JSON.stringify(result.data);
    },
  };
}

/** Both sides cache parsed and validated documents, like a server. */
const documents = new Map<string, DocumentNode>();

async function runOne(side: Side, asked: Operation, isRemembered: boolean): Promise<string> {
  const document = documents.get(asked.text) ?? parse(asked.text, { noLocation: true });
  if (!documents.has(asked.text)) {
    const [problem] = validate(side.schema, document);
    if (problem) throw problem;
    if (isRemembered) documents.set(asked.text, document);
  }
  const operation = getOperationAST(document);
  if (!operation) throw new Error("there is no operation");
  return side.run(asked, document, operation);
}

async function assertSame(sides: { ours: Side; apollo: Side }, asked: Operation): Promise<void> {
  const [ours, apollo] = [await runOne(sides.ours, asked, false), await runOne(sides.apollo, asked, false)];
  if (ours !== apollo) throw new Error("the two answers differ");
}

/** Measures the processor time of an operation, in all threads. */
async function measure(side: Side, { count, next, name }: (typeof rows)[number]): Promise<number> {
  const isRemembered = !name.includes("never");
  const before = process.cpuUsage();
  for (let at = 0; at < count; at++) await runOne(side, next(at), isRemembered);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
