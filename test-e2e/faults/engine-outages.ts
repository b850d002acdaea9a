import assert from "node:assert/strict";
import { eventually } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { becomesReady, delivered, during, expectUnavailable, recoveryMs, type Scene, withFewLines } from "./scene.ts";

const longMs = 30_000;
const shortMs = 6_000;

/**
 * Routes that need the database answer with Retry-After; changes accepted earlier arrive, and service resumes without a
 * restart.
 */
export async function databaseAway(scene: Scene): Promise<void> {
  const { send, engines, partnerPosts, uploads } = scene;
  const accepted = expectStatus(await uploads("before the database went"), 201).json.id;
  expectStatus(await partnerPosts("before-database"), 202);
  await during(engines.outages.database, longMs, async () => {
    expectUnavailable(await send("/images"));
    expectUnavailable(await send(`/images/${accepted}`));
    expectUnavailable(await partnerPosts("during-database"));
    expectUnavailable(await send("/api/v1/webhooks/endpoints"));
    expectUnavailable(await send("/api/account/", { method: "PATCH", body: { display_name: "X" } }), "server_error");
    expectStatus(await send("/api/v1/config/"), 200);
  });
  await eventually(async () => void expectStatus(await partnerPosts("after-database"), 202), { timeoutMs: recoveryMs });
  await becomesReady(scene, accepted);
  for (const id of ["before-database", "after-database"]) await delivered(scene, "webhook.received", `${id}`);
  await delivered(scene, "image.rendition_ready", accepted);
  await eventually(
    async () => {
      const body = { display_name: "After the outage" };
      expectStatus(await send("/api/account/", { method: "PATCH", body }), 200);
    },
    { timeoutMs: recoveryMs },
  );
}

/** Requests succeed, and their events arrive once the broker is back. */
export async function brokerAway(scene: Scene): Promise<void> {
  const { send, engines, partnerPosts, uploads } = scene;
  let imageId = "";
  const outage = () =>
    during(engines.outages.broker, longMs, async () => {
      imageId = expectStatus(await uploads("without a broker"), 201).json.id;
      expectStatus(await partnerPosts("during-broker"), 202);
      expectStatus(await send("/api/account/", { method: "PATCH", body: { display_name: "Without a broker" } }), 200);
      expectStatus(await send(`/images/${imageId}/content?width=64`), 200);
    });
  await withFewLines(scene, outage);
  await delivered(scene, "webhook.received", "during-broker");
  await delivered(scene, "image.created", imageId);
  await becomesReady(scene, imageId);
  await delivered(scene, "image.rendition_ready", imageId);
}

/** Requests succeed, and each process counts limits by itself. */
export async function cacheAway({ send, engines, system, partnerPosts }: Scene): Promise<void> {
  const stranger = createClient(system.baseUrl);
  await during(engines.outages.cache, shortMs, async () => {
    expectStatus(await partnerPosts("during-cache"), 202);
    const answer = expectStatus(await send("/images"), 200);
    assert.ok(answer.headers.get("ratelimit"));
    const many = await Promise.all(Array.from({ length: 200 }, () => stranger("/images")));
    assert.deepEqual(new Set(many.map(({ status }) => status)), new Set([401, 429]), "anonymous callers stay limited");
  });
  expectStatus(await send("/images"), 200);
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
export async function enginesSilent(scene: Scene): Promise<void> {
  const { send, engines, partnerPosts, imageId } = scene;
  await Promise.all([
    during(engines.silences.cache, shortMs, async () => void expectStatus(await send("/images"), 200)),
    during(engines.silences.broker, shortMs, async () => {
      expectStatus(await partnerPosts("silent-broker"), 202);
    }),
    during(engines.silences.blobs, shortMs, async () => {
      expectStatus(await send(`/images/${imageId}`), 200);
      // The original itself: a rendition may be made from a copy of it that is still at hand.
      expectUnavailable(await send(`/images/${imageId}/original`));
    }),
  ]);
  await during(engines.silences.database, shortMs, async () => {
    const answers = await Promise.all([send("/images"), partnerPosts("silent-database")]);
    for (const answer of answers) expectUnavailable(answer);
  });
  await delivered(scene, "webhook.received", "silent-broker");
  await eventually(async () => void expectStatus(await send("/images"), 200), { timeoutMs: recoveryMs });
  await eventually(async () => void expectStatus(await send(`/images/${imageId}/original`), 200), {
    timeoutMs: recoveryMs,
  });
}
