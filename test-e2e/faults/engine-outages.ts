import assert from "node:assert/strict";
import { eventually } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { becomesReady, during, expectUnavailable, recoveryMs, type Scene, withFewLines } from "./scene.ts";

const longMs = 30_000;
const shortMs = 6_000;

/** Routes that need the database answer with Retry-After, and service resumes without a restart. */
export async function databaseAway({ send, engines }: Scene): Promise<void> {
  await during(engines.outages.database, longMs, async () => {
    expectUnavailable(await send("/images"));
    expectStatus(await send("/api/v1/config/"), 200);
  });
  await eventually(async () => void expectStatus(await send("/images"), 200), { timeoutMs: recoveryMs });
}

/** Requests succeed, and their jobs are done once the broker is back. */
export async function brokerAway(scene: Scene): Promise<void> {
  let imageId = "";
  await withFewLines(scene, () =>
    during(scene.engines.outages.broker, longMs, async () => {
      imageId = expectStatus(await scene.uploads("without a broker"), 201).json.id;
      expectStatus(await scene.send(`/images/${imageId}/content?width=64`), 200);
    }),
  );
  await becomesReady(scene, imageId);
}

/** Requests succeed, and each process counts limits by itself. */
export async function cacheAway({ send, engines, system }: Scene): Promise<void> {
  const stranger = createClient(system.baseUrl);
  await during(engines.outages.cache, shortMs, async () => {
    const answer = expectStatus(await send("/images"), 200);
    assert.ok(answer.headers.get("ratelimit"));
    const many = await Promise.all(Array.from({ length: 200 }, () => stranger("/images")));
    assert.deepEqual(new Set(many.map(({ status }) => status)), new Set([401, 429]), "anonymous callers stay limited");
  });
}

/** Bytes are unavailable, records work. */
export async function blobsAway(scene: Scene): Promise<void> {
  const { send, engines, uploads, imageId } = scene;
  await during(engines.outages.blobs, shortMs, async () => {
    expectStatus(await send("/images"), 200);
    expectStatus(await send(`/images/${imageId}`, { method: "PATCH", body: { title: "Without bytes" } }), 200);
    expectUnavailable(await send(`/images/${imageId}/content?width=97`));
    expectUnavailable(await uploads("without bytes"));
  });
  const after = await eventually(async () => expectStatus(await uploads("with bytes again"), 201), {
    timeoutMs: recoveryMs,
  });
  expectStatus(await send(`/images/${imageId}/content?width=97`), 200);
  await becomesReady(scene, after.json.id);
}

/** The fields of a silent service are null with their reason, in time, and the others are answered. */
export async function subgraphSilent({ send, system }: Scene): Promise<void> {
  const query = "{ viewer { id webhookSources(first: 1) { edges { node { id } } } } }";
  const ask = async () => expectStatus(await send("/graphql", { body: { query } }), 200).json;
  const { current } = system.process("webhook-ingest");
  current.signal("SIGSTOP");
  try {
    const untilMs = performance.now() + longMs;
    while (performance.now() < untilMs) {
      for (const { data, errors } of await Promise.all([ask(), ask(), ask(), ask()])) {
        assert.ok(data.viewer.id);
        assert.deepEqual([data.viewer.webhookSources, errors[0].extensions.code], [null, "UNAVAILABLE"]);
      }
    }
  } finally {
    current.signal("SIGCONT");
  }
  await eventually(async () => assert.equal((await ask()).errors, undefined), { timeoutMs: recoveryMs });
}

/** No request waits for ever: what needs a silent engine is refused in time, the rest works. */
export async function enginesSilent({ send, engines, uploads, imageId }: Scene): Promise<void> {
  await Promise.all([
    during(engines.silences.cache, shortMs, async () => void expectStatus(await send("/images"), 200)),
    during(engines.silences.blobs, shortMs, async () => {
      expectStatus(await send(`/images/${imageId}`), 200);
      // The original itself: a rendition may be made from a copy of it that is still at hand.
      expectUnavailable(await send(`/images/${imageId}/original`));
    }),
  ]);
  await during(engines.silences.broker, shortMs, async () => void expectStatus(await uploads("silent broker"), 201));
  await during(engines.silences.database, shortMs, async () => expectUnavailable(await send("/images")));
  for (const path of ["/images", `/images/${imageId}/original`])
    await eventually(async () => void expectStatus(await send(path), 200), { timeoutMs: recoveryMs });
}
