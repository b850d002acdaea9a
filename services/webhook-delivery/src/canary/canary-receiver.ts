import type { IncomingMessage } from "node:http";
import { canaryAccountId, eventOf } from "@signalbox/contracts";
import { errorDocsAt, KiB, minutes } from "@signalbox/core";
import { readBody } from "@signalbox/http";
import { createOutboundClient, type OutboundClient } from "@signalbox/net";
import { openListener } from "@signalbox/runtime";
import { inTransaction, type Pool, type Sealer } from "@signalbox/storage";
import { schemeOf } from "@signalbox/webhook-signatures";
import { z } from "zod";
import type { DeliveryContext } from "../context/delivery-service.ts";
import { findSecret } from "../endpoints/secret-store.ts";

/** Where the deliveries of the canary go, and the only client that may go there. */
export interface CanaryReceiver {
  readonly url: string;
  readonly outbound: OutboundClient;
}

const host = "127.0.0.1";
const bodyBytesMax = 16 * KiB;
const toleranceSeconds = minutes(5) / 1000;
const Body = z.object({ data: eventOf("account.canary_changed").data });
const scheme = schemeOf("standard-webhooks");

/** Opens a loopback receiver that verifies as a customer's does. The client of customers' deliveries refuses it. */
export async function openCanaryReceiver(
  { configuration, runner, clock, log, metrics }: DeliveryContext,
  pool: Pool,
  sealer: Sealer,
  endpointId: string,
): Promise<CanaryReceiver> {
  const arrival = metrics.histogram("signalbox_canary_arrival_seconds");

  async function receive(request: IncomingMessage): Promise<number> {
    const body = await readBody(request, bodyBytesMax);
    const secret = await inTransaction(pool, (tx) => findSecret(tx, sealer, canaryAccountId, endpointId));
    const { method = "", url = "", headers } = request;
    const nowSeconds = Math.floor(clock.nowMs() / 1000);
    const options = { secrets: secret === null ? [] : [secret], nowSeconds, toleranceSeconds };
    if (!scheme.verify({ method, url, headers, body }, options).verified) return 401;
    const { data } = Body.parse(JSON.parse(body.toString("utf8")));
    arrival.observe({}, Math.max(0, clock.nowMs() - Date.parse(data.changed_at)) / 1000);
    return 204;
  }

  const { url, port } = await openListener(runner, {
    name: "canary",
    host,
    port: 0,
    errorDocs: errorDocsAt(configuration.get("http.error-docs"), configuration.get("http.base-url")),
    // Deliveries in hand end after the drain has begun.
    openWhileDraining: true,
    listener: (request, response) =>
      void receive(request)
        .catch((error: unknown) => {
          log.warn({ error }, "the canary's receiver failed");
          return 500;
        })
        .then((status) => response.writeHead(status).end()),
  });
  const outbound = createOutboundClient({ allow: [`${host}:${port}`], clock });
  runner.defer("canary client", () => outbound.close());
  return { url, outbound };
}
