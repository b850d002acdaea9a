import { randomBytes } from "node:crypto";
import { eventually } from "@signalbox/testing";
import { githubHeaders } from "../../journey/client.ts";
import { type Prepare, type Prepared, type Recipes, recipesOf, someone } from "./attempt.ts";

const sources = "/api/v1/webhooks/sources";
const newSecret = () => `whsec_${randomBytes(24).toString("base64")}`;
const newSource = { name: "Partner", scheme: "standard-webhooks", secret: newSecret() };
const start = "2026-01-01T00:00:00Z";

const source =
  (more: object = {}): Prepare =>
  async (world) => {
    const { by, ids } = await someone(world);
    const { id, ingest_path } = (await world.send(by, sources, { body: { ...newSource, ...more } })).json;
    return { by, ids: { ...ids, id, ingest_path } };
  };

/** A source with a former secret and a former address. */
const rotatedSource: Prepare = async (world) => {
  const { by, ids } = await source()(world);
  await world.send(by, `${sources}/${ids.id}/secret/rotate`, { body: { secret: newSecret() } });
  await world.send(by, `${sources}/${ids.id}/rotate-url`, { body: {} });
  return { by, ids };
};

const secret = "a secret of GitHub's and ours";
const ofGithub = { scheme: "github", secret };
const signed = (payload: object) => {
  const body = Buffer.from(JSON.stringify(payload));
  return { body, headers: githubHeaders(secret, body) };
};

/** A slow replay: of some webhooks that a source received, one a second. */
const runningReplay: Prepare = async (world) => {
  const { by, ids } = await source(ofGithub)(world);
  for (let nth = 0; nth < 20; nth++) await world.send({}, ids.ingest_path ?? "", signed({ nth }));
  const body = { from: start, rate: 1 };
  return { by, ids: { ...ids, replay_id: (await world.send(by, `${sources}/${ids.id}/replays`, { body })).json.id } };
};

/** A webhook that was refused because of a wrong source secret, which was corrected since. */
const mendedRejection: Prepare = async (world) => {
  const settings = { keep_rejected_bodies: true };
  const { by, ids } = await source({ ...ofGithub, secret: `${secret}, wrong`, settings })(world);
  const path = `${sources}/${ids.id}`;
  await world.tryTo({}, ids.ingest_path ?? "", signed({}));
  const rejection = async () => (await world.send(by, `${path}/rejections`)).json.items[0]?.id ?? null;
  const rejection_id: string = await eventually(rejection);
  await world.send(by, path, { method: "PATCH", body: { secret } });
  return { by, ids: { ...ids, rejection_id } };
};

/** A slow retry of some rejections, one a second. */
const runningRetry: Prepare = async (world) => {
  const settings = { keep_rejected_bodies: true };
  const { by, ids } = await source({ ...ofGithub, secret: `${secret}, wrong`, settings })(world);
  const path = `${sources}/${ids.id}`;
  for (let nth = 0; nth < 20; nth++) await world.tryTo({}, ids.ingest_path ?? "", signed({ nth }));
  await eventually(async () => (await world.send(by, `${path}/rejections`)).json.items.length >= 10);
  const retry = (await world.send(by, `${path}/rejections/retry`, { body: { rate: 1 } })).json;
  return { by, ids: { ...ids, retry_id: retry.id } };
};

/** A received webhook that is kept as the bookmark `kept`. */
const bookmarked: Prepare = async (world) => {
  const { by, ids } = await source(ofGithub)(world);
  await world.send({}, ids.ingest_path ?? "", signed({}));
  const path = `${sources}/${ids.id}/received`;
  const ref: string = (await world.send(by, path)).json.items[0].id;
  await world.send(by, `${path}/${ref}/bookmark`, { body: { name: "kept" } });
  return { by, ids: { ...ids, ref, name: "kept" } };
};

const senderKey = (api_url: string) => ({ sender: "stripe", key: "rk_test_of_nobody", api_url });

/** A source whose sender does not know its key, so that a comparison ends at once. */
const readableSource: Prepare = async (world) => {
  const { by, ids } = await source({ scheme: "stripe" })(world);
  const path = `${sources}/${ids.id}`;
  await world.send(by, `${path}/sender-key`, { method: "PUT", body: senderKey(world.goneUrl) });
  const runs = async () => (await world.send(by, `${path}/reconciliations`)).json.items;
  await eventually(async () => (await runs())[0]?.status === "failed");
  return { by, ids };
};

const withSecret = (_: Prepared) => ({ secret: newSecret() });

/** Recipes of each audited write to sources and received webhooks. */
export const ingestRecipes: Recipes = {
  ...recipesOf(someone, {
    "POST /api/v1/webhooks/sources": newSource,
    "Mutation.createWebhookSource": newSource,
  }),
  ...recipesOf(source(), {
    "PATCH /api/v1/webhooks/sources/{id}": withSecret,
    "POST /api/v1/webhooks/sources/{id}/secret/rotate": withSecret,
    "POST /api/v1/webhooks/sources/{id}/rotate-url": { overlap_seconds: 60 },
    "POST /api/v1/webhooks/sources/{id}/replays": { from: start },
    "DELETE /api/v1/webhooks/sources/{id}": null,
    "Mutation.updateWebhookSource": `updateWebhookSource(id: {id}, input: { name: "Store", secret: "${newSource.secret}" })`,
    "Mutation.rotateWebhookSourceSecret": `rotateWebhookSourceSecret(id: {id}, input: { secret: "${newSource.secret}" })`,
    "Mutation.rotateWebhookSourceUrl": "rotateWebhookSourceUrl(id: {id}, input: { overlapSeconds: 60 })",
    "Mutation.deleteWebhookSource": "deleteWebhookSource(id: {id})",
    "Mutation.createReceivedWebhookReplay": `createReceivedWebhookReplay(sourceId: {id}, input: { from: "${start}" })`,
  }),
  ...recipesOf(rotatedSource, {
    "DELETE /api/v1/webhooks/sources/{id}/secret/previous": null,
    "DELETE /api/v1/webhooks/sources/{id}/addresses/previous": null,
    "Mutation.deletePreviousWebhookSourceSecrets": "deletePreviousWebhookSourceSecrets(id: {id})",
    "Mutation.deletePreviousWebhookSourceAddresses": "deletePreviousWebhookSourceAddresses(id: {id})",
  }),
  ...recipesOf(runningReplay, {
    "POST /api/v1/webhooks/sources/{id}/replays/{replay_id}/cancel": null,
    "Mutation.cancelReceivedWebhookReplay": "cancelReceivedWebhookReplay(sourceId: {id}, id: {replay_id})",
  }),
  ...recipesOf(mendedRejection, {
    "POST /api/v1/webhooks/sources/{id}/rejections/{rejection_id}/retry": null,
    "Mutation.retryWebhookRejection": "retryWebhookRejection(sourceId: {id}, id: {rejection_id})",
    "POST /api/v1/webhooks/sources/{id}/rejections/retry": {},
    "Mutation.retryWebhookRejections": "retryWebhookRejections(sourceId: {id}, input: {})",
  }),
  ...recipesOf(runningRetry, {
    "POST /api/v1/webhooks/sources/{id}/rejection-retries/{retry_id}/cancel": null,
    "Mutation.cancelWebhookRejectionRetry": "cancelWebhookRejectionRetry(sourceId: {id}, id: {retry_id})",
  }),
  ...recipesOf(bookmarked, {
    "POST /api/v1/webhooks/sources/{id}/received/{ref}/bookmark": { name: "another" },
    "DELETE /api/v1/webhooks/bookmarks/{name}": null,
    "Mutation.bookmarkReceivedWebhook":
      'bookmarkReceivedWebhook(sourceId: {id}, id: {ref}, input: { name: "another" })',
    "Mutation.deleteWebhookBookmark": "deleteWebhookBookmark(name: {name})",
  }),
  ...recipesOf(readableSource, {
    "PUT /api/v1/webhooks/sources/{id}/sender-key": (_, { goneUrl }) => senderKey(goneUrl),
    "DELETE /api/v1/webhooks/sources/{id}/sender-key": null,
    "POST /api/v1/webhooks/sources/{id}/reconcile": { dry_run: true },
    "Mutation.setWebhookSenderKey":
      'setWebhookSenderKey(id: {id}, input: { sender: "stripe", key: "rk_test_of_nobody", apiUrl: "https://stripe.invalid" })',
    "Mutation.deleteWebhookSenderKey": "deleteWebhookSenderKey(id: {id})",
    "Mutation.reconcileWebhookSource": "reconcileWebhookSource(id: {id}, input: { dryRun: true })",
  }),
};
