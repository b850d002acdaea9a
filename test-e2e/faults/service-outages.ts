import assert from "node:assert/strict";
import type { ServiceName } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { expectUnavailable, recoveryMs, type Scene } from "./scene.ts";

/** Kills the service, runs `meanwhile`, and starts it again. */
async function without({ system }: Scene, service: ServiceName, meanwhile: () => Promise<void>): Promise<void> {
  await system.process(service).current.kill();
  try {
    await meanwhile();
  } finally {
    await system.process(service).restart();
  }
}

/** Known principals keep working everywhere else; an unknown one gets Retry-After. */
export async function accountAway(scene: Scene): Promise<void> {
  const { send, system } = scene;
  const body = { name: "Second key", scopes: ["images:read"] };
  const { json } = expectStatus(await send("/api/account/api-keys/", { body }), 201);
  const unseen = createClient(system.baseUrl, json.key ?? json.secret);
  await without(scene, "account", async () => {
    expectStatus(await send("/images"), 200);
    expectStatus(await send("/api/v1/config/"), 200);
    expectUnavailable(await unseen("/images"));
    const own = await send("/api/account/");
    assert.ok([502, 503].includes(own.status), `${own.status}`);
    assert.equal(typeof own.json.error.code, "string");
  });
  await eventually(async () => void expectStatus(await unseen("/images"), 200), { timeoutMs: recoveryMs });
}

/** Every service keeps its present configuration. */
export async function configAway(scene: Scene): Promise<void> {
  const { send, partnerPosts, uploads } = scene;
  await without(scene, "config", async () => {
    const away = await send("/api/v1/config/");
    assert.ok([502, 503].includes(away.status), `${away.status}`);
    expectStatus(await partnerPosts("without-config"), 202);
    expectStatus(await uploads("without config"), 201);
    expectStatus(await send("/api/account/"), 200);
  });
  await eventually(async () => void expectStatus(await send("/api/v1/config/"), 200), { timeoutMs: recoveryMs });
}

/** A query returns the other subgraphs' data and names the missing part. */
export async function subgraphAway(scene: Scene): Promise<void> {
  const query = "{ viewer { id displayName webhookSources(first: 1) { edges { node { id } } } } }";
  const ask = async () => expectStatus(await scene.send("/graphql", { body: { query } }), 200).json;
  await without(scene, "webhook-ingest", async () => {
    const { data, errors } = await ask();
    assert.match(data.viewer.id, /^acc_/);
    assert.equal(typeof data.viewer.displayName, "string");
    assert.ok(data.viewer.webhookSources == null);
    assert.equal(errors[0].extensions.code, "UNAVAILABLE");
    assert.doesNotMatch(JSON.stringify(errors), /127\.0\.0\.1|ECONN|stack/, "nothing of the inside is shown");
  });
  await eventually(
    async () => {
      const { data, errors } = await ask();
      assert.equal(errors, undefined);
      assert.equal(data.viewer.webhookSources.edges.length, 1);
    },
    { timeoutMs: recoveryMs },
  );
}
