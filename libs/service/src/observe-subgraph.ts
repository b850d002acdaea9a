import type { SubgraphOptions } from "@signalbox/http";
import type { ServiceContext } from "@signalbox/runtime";

type Context = ServiceContext<unknown>;
type Observe = NonNullable<SubgraphOptions["observe"]>;

/** Records each request to the subgraph: one line, one measurement and a span of the caller's trace. */
export function observeSubgraph({ log, tracer, metrics, clock }: Context): Observe {
  const duration = metrics.histogram("signalbox_subgraph_request_duration_seconds");
  return (request, answer) => {
    const parent = tracer.traceparent() === undefined ? request.headers.traceparent?.toString() : undefined;
    return tracer.span("POST subgraph", { kind: "server", parent }, async (span) => {
      const startedMs = clock.steadyMs();
      const result = await answer();
      const durationMs = clock.steadyMs() - startedMs;
      const codes = [...new Set(result.errors?.map(({ extensions }) => String(extensions?.code)))];
      const outcome = codes.length === 0 ? "ok" : "errors";
      duration.observe({ outcome }, durationMs / 1000);
      span.setAttributes({ "signalbox.outcome": outcome, "graphql.error_codes": codes });
      const requestId = request.headers["x-request-id"];
      log.info({ requestId, outcome, codes, durationMs: Math.round(durationMs * 100) / 100 }, "subgraph request");
      return result;
    });
  };
}
