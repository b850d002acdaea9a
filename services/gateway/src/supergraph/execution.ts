import { MiB } from "@signalbox/core";
import { openExecutor } from "@signalbox/federation";
import { admitWork, chargeProcessorTime, turnOf, type WorkLimits } from "@signalbox/http";
import { boundLosses } from "./bound-losses.ts";
import { checkTimeVariables } from "./check-times.ts";
import type { OperationContext, SubgraphSender } from "./subgraph-sender.ts";
import type { Supergraph } from "./supergraph.ts";

const planMsMax = 500;
const planBytesMax = 16 * MiB;

/** Opens a supergraph: @apollo/gateway loads it and makes its plans, @signalbox/federation runs them. */
export async function openExecution(
  supergraphSdl: string,
  senders: ReadonlyMap<string, SubgraphSender>,
  work: WorkLimits,
): Promise<Supergraph> {
  const executor = await openExecutor<OperationContext>({
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
  checkTimeVariables(executor.schema);
  const callerOf = (context: OperationContext) => ({
    id: turnOf(context),
    admit: () => admitWork(work, context),
    charge: (ms: number) => chargeProcessorTime(work, context, ms),
  });
  return {
    schema: executor.schema,
    async execute({ query: text, ...asked }, context) {
      const answer = await executor.execute({ text, ...asked, context, caller: callerOf(context) });
      for (const fetch of context.fetches)
        if (answer.flawedSubgraphs.includes(fetch.subgraph) && fetch.outcome === "ok") fetch.outcome = "fault";
      return { ...answer, errors: boundLosses(answer.errors) };
    },
    prepare: ({ query: text, ...asked }) => executor.prepare({ text, ...asked }),
    close: () => executor.close(),
  };
}
