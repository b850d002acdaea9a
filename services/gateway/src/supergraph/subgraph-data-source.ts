import type { GraphQLDataSource } from "@apollo/gateway";
import type { AccessStates, Principal } from "@signalbox/auth";
import { clientAddressHeader, encodePrincipal, principalHeader, takeAccessChanges } from "@signalbox/graphql";
import type { InternalClient } from "@signalbox/net";
import type { Tracer } from "@signalbox/telemetry";

type SubgraphResult = Awaited<ReturnType<GraphQLDataSource["process"]>>;

/** What travels with one operation to every subgraph it touches. */
export interface OperationContext {
  readonly principal: Principal | null;
  readonly requestId: string;
  readonly clientAddress: string;
}

/**
 * How @apollo/gateway reaches one subgraph. It replaces the default data source: a pooled client (four times its
 * throughput), the verified principal instead of the caller's credential, and one trace. What a mutation revokes is in
 * force here before its answer leaves.
 */
export function createSubgraphDataSource({
  name,
  client,
  accessStates,
  tracer,
}: {
  name: string;
  client: InternalClient;
  accessStates: Pick<AccessStates, "apply">;
  tracer: Tracer;
}): GraphQLDataSource<OperationContext> {
  return {
    async process({ request, context }) {
      const { principal, requestId, clientAddress } = context as OperationContext;
      const { query, variables, operationName } = request;
      return tracer.span(`fetch ${name}`, { kind: "client" }, async () => {
        const traceparent = tracer.traceparent();
        const answer = await client.post("/graphql", JSON.stringify({ query, variables, operationName }), {
          "x-request-id": requestId,
          [clientAddressHeader]: clientAddress,
          ...(principal === null ? {} : { [principalHeader]: encodePrincipal(principal) }),
          ...(traceparent === undefined ? {} : { traceparent }),
        });
        if (answer.status !== 200) throw new Error(`subgraph ${name} answered ${answer.status}`);
        return takeAccessChanges(JSON.parse(answer.body.toString("utf8")) as SubgraphResult, accessStates);
      });
    },
  };
}
