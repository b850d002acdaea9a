import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { RequestScope, type ServiceContext, type ServiceParts } from "../src/index.ts";
import type { probeProperties } from "./probe-properties.ts";

/** Elements of an array of 8 MiB. */
const elements = 2 ** 20;

/** Creates a service that misbehaves by its property `probe.behaviour`, run as a real process by the tests. */
export async function createService(context: ServiceContext<typeof probeProperties>): Promise<ServiceParts> {
  const { configuration, log, runner, tracer, metrics, clock } = context;
  const behaviour = configuration.get("probe.behaviour");
  const does = (name: string) => behaviour.includes(name);

  for (const part of ["first", "second", "third"]) {
    runner.defer(part, () => log.info({ closed: part }, "Closed"));
  }
  if (does("hang-on-close")) runner.defer("the one that hangs", () => new Promise(() => {}));
  if (does("hang-on-drain")) runner.onDrain("the drain that hangs", () => new Promise(() => {}));
  if (does("fail-start")) throw new Error("the start of the probe fails");
  if (does("leave-garbage")) Array.from({ length: 32 }, () => new Array(elements).fill(null));
  if (does("throw-later")) setTimeout(() => Promise.reject(new Error("nobody catches this")), 50);
  runner.worker("ticker", async (signal, beat) => {
    while (!signal.aborted) {
      beat();
      if (does("fail-worker")) throw new Error("the worker is broken");
      await sleep(20, undefined, { signal }).catch(() => {});
    }
    log.info({ ended: "ticker" }, "Ended");
  });

  const requests = metrics.counter("signalbox_http_limited_total");
  return {
    public: (request, response) => {
      requests.inc({ limit: "probe" });
      void tracer.span("probe", { kind: "server" }, async () => {
        const asked = new URL(request.url ?? "/", "http://probe").searchParams;
        if (asked.has("reject")) return rejectLater(response);
        const waitMs = Number(asked.get("wait") ?? 0);
        const started = clock.steadyMs();
        log.info({ path: request.url, waitMs, heapBytes: process.memoryUsage().heapTotal }, "Request");
        await sleep(waitMs);
        response.end(JSON.stringify({ took: clock.steadyMs() - started >= waitMs - 1 }));
      });
    },
    authorizeManagement: async (headers) => {
      if (headers["x-api-key"] === "manager") return { isOperator: false, recordRead: () => {} };
      return headers["x-api-key"] === undefined ? "unauthorized" : "forbidden";
    },
  };
}

/** Leaves a promise that rejects, as part of the request. */
function rejectLater(response: ServerResponse): void {
  const scope = new RequestScope({}, () => response.writeHead(500).end());
  scope.run(() => setTimeout(() => Promise.reject(new Error("nobody catches this")), 10));
}
