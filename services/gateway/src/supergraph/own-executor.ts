import { MiB } from "@signalbox/core";
import { openExecutor, type PlanCaller } from "@signalbox/federation";
import { admitWork, chargeProcessorTime, turnOf, type WorkLimits } from "@signalbox/http";
import type { Metrics } from "@signalbox/runtime";
import { boundLosses } from "./place-errors.ts";
import type { OperationContext, SubgraphSender } from "./subgraph-sender.ts";
import type { Supergraph } from "./supergraph.ts";

const planMsMax = 500;
const planBytesMax = 16 * MiB;

/** Opens a supergraph that @signalbox/federation executes. Apollo's executor runs unsupported operations. */
export async function openOwnExecutor({
  supergraphSdl,
  senders,
  metrics,
  work,
  openApollo,
}: {
  supergraphSdl: string;
  senders: ReadonlyMap<string, SubgraphSender>;
  metrics: Metrics;
  work: WorkLimits;
  openApollo: () => Promise<Supergraph>;
}): Promise<Supergraph> {
  const executions = metrics.counter("signalbox_graphql_executions_total");
  let apollo: Promise<Supergraph> | null = null;
  const own = await openExecutor<OperationContext>({
    supergraphSdl,
    planMsMax,
    planBytesMax,
    async send({ subgraph, body, isMutation, context }) {
      const send = senders.get(subgraph);
      if (send === undefined) throw new Error(`the supergraph names a subgraph that is not configured: ${subgraph}`);
      const sent = await send({ body, isMutation, context });
      return "loss" in sent ? sent : sent.result;
    },
  });
  const callerOf = (context: OperationContext): PlanCaller => ({
    id: turnOf(context),
    admit: () => admitWork(work, context),
    charge: (ms) => chargeProcessorTime(work, context, ms),
  });
  return {
    schema: own.schema,
    async execute(asked, context) {
      const { query: text, document, operation, variables } = asked;
      const answer = await own.execute({ text, document, operation, variables, context, caller: callerOf(context) });
      executions.inc({ executor: "uncovered" in answer ? "apollo" : "ours" });
      if ("uncovered" in answer) {
        apollo ??= openApollo();
        return (await apollo).execute(asked, context);
      }
      for (const fetch of context.fetches)
        if (answer.flawedSubgraphs.includes(fetch.subgraph) && fetch.outcome === "ok") fetch.outcome = "fault";
      return { ...answer, errors: boundLosses(answer.errors) };
    },
    prepare: ({ query: text, ...asked }) => own.prepare({ text, ...asked }),
    async close() {
      await Promise.all([own.close(), apollo?.then((opened) => opened.close())]);
    },
  };
}
