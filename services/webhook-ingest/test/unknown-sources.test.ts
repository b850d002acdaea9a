import assert from "node:assert/strict";
import crypto, { type Hmac } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { after, mock, test } from "node:test";
import { createManualClock } from "@signalbox/core";
import { serviceWith } from "@signalbox/testing";
import type { IngestService } from "../src/context/ingest-service.ts";
import { receiveWebhook } from "../src/receiving/receive-webhook.ts";
import { type Source, sourceFrom } from "../src/sources/source.ts";
import { SourceCache } from "../src/state/source-cache.ts";
import { configurationWith } from "./configuration-with.ts";
import { type Scheme, schemes, secrets, sign } from "./signing.ts";

/**
 * The time of a refusal must not reveal whether a source exists. Times are not reliable on a busy machine, so the work
 * behind them is counted: database reads, verifications, and hashes of the body.
 */
interface Work {
  readonly outcome: string;
  readonly reads: number;
  readonly verifications: number;
  readonly hashes: number;
}

let hashes = 0;
const createHmac = crypto.createHmac;
mock.method(crypto, "createHmac", (...given: Parameters<typeof createHmac>): Hmac => {
  const hmac = createHmac(...given);
  const update = hmac.update.bind(hmac);
  hmac.update = (data: string | NodeJS.ArrayBufferView) => {
    if (Buffer.isBuffer(data)) hashes++;
    return update(data as string);
  };
  return hmac;
});
syncBuiltinESMExports();
after(() => {
  mock.restoreAll();
  syncBuiltinESMExports();
});

/** Intervals between requests: at once, within the lifetime of a copy, after it, and after the longest memory. */
const pausesMs = [0, 0, 100, 300, 1_000, 31_000, 0];

/** Costs of several forged requests to a source, or to none. */
async function workFor(source: Source | null, secret: string, sentAs: Scheme): Promise<Work[]> {
  const clock = createManualClock(new Date());
  let [reads, verifications] = [0, 0];
  const findWithSecrets = async () => {
    reads++;
    return (
      source && {
        source,
        secrets: { current: secret, former: [], verifyToken: null, preset: null, presetVersion: null },
      }
    );
  };
  const service = serviceWith<IngestService>({
    clock,
    configuration: configurationWith({ "limits.maxWebhookBytes": 1_048_576, "webhook-ingest.tolerance": 300_000 }),
    accessStates: { isCaughtUp: () => true, stateOf: () => null },
    sourceCache: new SourceCache({ findWithSecrets, findIdAt: async () => null }, clock),
    jwksCache: { withKeys: async (known) => known, reread: async () => false },
    certificateCache: { find: () => assert.fail("none is named"), confirm: async () => false },
    receivingMetrics: { observeVerification: () => void verifications++ },
  });
  const { headers, body } = sign(sentAs);
  const forged = {
    address: source?.id ?? "src_nobody",
    method: "POST",
    url: "",
    headers,
    body: Buffer.from(`${body} `),
  };
  const done: Work[] = [];
  for (const pauseMs of pausesMs) {
    clock.advance(pauseMs);
    [reads, verifications, hashes] = [0, 0, 0];
    const { outcome } = await receiveWebhook(service, forged);
    done.push({ outcome, reads, verifications, hashes });
  }
  return done;
}

for (const scheme of schemes) {
  test(`a forged webhook costs the same for a source of ${scheme}, a paused one, and none`, async () => {
    const wanted = { name: "Shop", scheme, eventTypes: null, forward: true, settings: {} };
    const active = sourceFrom(
      { ...wanted, secret: "", verifyToken: null, preset: null, presetVersion: null },
      "acc_1",
      new Date(),
    );
    for (const sentAs of schemes) {
      const there = await workFor(active, secrets[scheme], sentAs);
      const paused = await workFor({ ...active, status: "paused" }, secrets[scheme], sentAs);
      const absent = await workFor(null, "", sentAs);
      const costs = (works: readonly Work[]) => works.map(({ outcome: _, ...cost }) => cost);
      assert.deepEqual(costs(there), costs(absent), `sent as ${sentAs}`);
      assert.deepEqual(costs(paused), costs(absent), `sent as ${sentAs}`);
      assert.deepEqual(
        [there, paused, absent].map(([first]) => first?.outcome),
        ["not-verified", "hidden", "unknown-source"],
      );
      assert.ok(absent.every(({ verifications, hashes: ofBody }) => verifications === 1 && ofBody === 1));
    }
  });
}
