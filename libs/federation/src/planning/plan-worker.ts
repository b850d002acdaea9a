import { parentPort, threadId, workerData } from "node:worker_threads";
import { operationFromDocument, ROUTER_SUPPORTED_SUPERGRAPH_FEATURES, Supergraph } from "@apollo/federation-internals";
import { QueryPlanner } from "@apollo/query-planner";
import { threadProcessorMs } from "@signalbox/core";
import { parse, printSchema } from "graphql";
import type { PlanAnswer, PlanQuestion, PlanWorkerData } from "./planning-messages.ts";

/** A thread that plans operations one after another. It may be terminated at any moment. */
const { supergraphSdl, evaluatedPlansMax, pathsMax } = workerData as PlanWorkerData;
const port = parentPort;
if (!port) throw new Error(`not a worker thread: ${threadId}`);

/** This executor does not enforce access rules of a supergraph, so a supergraph that has them is refused. */
const supportedFeatures = new Set(
  [...ROUTER_SUPPORTED_SUPERGRAPH_FEATURES].filter((url) => !/\/(authenticated|requiresScopes|policy)\//.test(url)),
);
const supergraph = Supergraph.build(supergraphSdl, { supportedFeatures, validateSupergraph: true });
const apiSchema = supergraph.apiSchema();
const planner = new QueryPlanner(supergraph, {
  debug: { maxEvaluatedPlans: evaluatedPlansMax, pathsLimit: pathsMax },
});

port.on("message", ({ id, text }: PlanQuestion) => port.postMessage(answer(id, text)));
// The first plan compiles much of the planner: no client should wait for that.
planFor("{__typename}");
port.postMessage({ apiSchemaSdl: printSchema(apiSchema.toGraphQLJSSchema()) });

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
