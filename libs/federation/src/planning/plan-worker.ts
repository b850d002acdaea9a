import { parentPort, threadId, workerData } from "node:worker_threads";
import { operationFromDocument } from "@apollo/federation-internals";
import { ApolloGateway } from "@apollo/gateway";
import type { QueryPlanner } from "@apollo/query-planner";
import { threadProcessorMs } from "@signalbox/core";
import { parse, printSchema } from "graphql";
import type { PlanAnswer, PlanQuestion, PlanWorkerData } from "./planner.ts";

/** A thread that plans operations one after another. It may be terminated at any moment. */
const { supergraphSdl, evaluatedPlansMax, pathsMax } = workerData as PlanWorkerData;
const port = parentPort;
if (!port) throw new Error(`not a worker thread: ${threadId}`);

/** Loads the supergraph: checks it, refuses what is not supported (access rules, context arguments), makes its planner. */
const gateway = new ApolloGateway({
  supergraphSdl,
  validateSupergraph: true,
  queryPlannerConfig: { debug: { maxEvaluatedPlans: evaluatedPlansMax, pathsLimit: pathsMax } },
  // Only plans are made in this thread; fetches are sent by the executor.
  buildService: ({ name }) => ({ process: () => Promise.reject(new Error(`${name} is not called from this thread`)) }),
  logger: { debug() {}, info() {}, warn() {}, error() {} },
});
const { schema } = await gateway.load();
const planner = gateway.__testing().queryPlanner as QueryPlanner;
const apiSchema = planner.supergraph.apiSchema();

port.on("message", ({ id, text }: PlanQuestion) => port.postMessage(answer(id, text)));
// The first plan compiles much of the planner: no client should wait for that.
planFor("{__typename}");
port.postMessage({ apiSchemaSdl: printSchema(schema) });

function answer(id: number, text: string): PlanAnswer {
  const startedMs = threadProcessorMs();
  try {
    const plan = planFor(text);
    return { id, plan, processorMs: threadProcessorMs() - startedMs };
  } catch (error) {
    return { id, fault: (error as Error).message, processorMs: threadProcessorMs() - startedMs };
  }
}

function planFor(text: string) {
  return planner.buildQueryPlan(operationFromDocument(apiSchema, parse(text, { noLocation: true })));
}
