import { createHmac, randomBytes } from "node:crypto";
import { eventually } from "@signalbox/testing";
import type { Person } from "../world.ts";
import { type Attempt, fresh, graph, mutation, type Recipe, type Recipes, rest } from "./attempt.ts";

const sources = "/api/v1/webhooks/sources";
const newSource = {
  name: "Partner",
  scheme: "standard-webhooks",
  secret: `whsec_${randomBytes(24).toString("base64")}`,
};

const source = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send }) => {
    const { id } = (await send(person.headers, sources, { body: newSource })).json;
    return make(person, `${sources}/${id}`);
  });

/** A source with a former secret and a former address. */
const rotatedSource = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send }) => {
    const { id } = (await send(person.headers, sources, { body: newSource })).json;
    const path = `${sources}/${id}`;
    const secret = `whsec_${randomBytes(24).toString("base64")}`;
    await send(person.headers, `${path}/secret/rotate`, { body: { secret } });
    await send(person.headers, `${path}/rotate-url`, { body: {} });
    return make(person, path);
  });

/** A mutation of an existing source. */
const sourceGraph = (call: (id: string) => string): Recipe =>
  source((person, path) => mutation(person, call(path.slice(sources.length + 1))));

/** A mutation of the source of a path; SOURCE stands for the argument that names it. */
const ofSource = (person: Person, path: string, call: string): Attempt => {
  const id = path.slice(sources.length + 1).split("/")[0];
  return mutation(person, call.replace("SOURCE", `sourceId: "${id}"`));
};

/** A slow replay: of some webhooks that a source received, one a second. */
const runningReplay = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send }) => {
    const secret = randomBytes(24).toString("hex");
    const { id, ingest_path } = (
      await send(person.headers, sources, { body: { ...newSource, scheme: "github", secret } })
    ).json;
    for (let nth = 0; nth < 20; nth++) {
      const body = { nth };
      const signature = createHmac("sha256", secret).update(JSON.stringify(body)).digest("hex");
      const headers = { "x-github-delivery": `${nth}`, "x-hub-signature-256": `sha256=${signature}` };
      await send(headers, ingest_path, { body });
    }
    const path = `${sources}/${id}/replays`;
    const body = { from: "2026-01-01T00:00:00Z", rate: 1 };
    return make(person, `${path}/${(await send(person.headers, path, { body })).json.id}`);
  });

/** A webhook that was refused because of a wrong source secret, which was corrected since. */
const mendedRejection = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send, tryTo }) => {
    const secret = randomBytes(24).toString("hex");
    const settings = { keep_rejected_bodies: true };
    const wrong = { ...newSource, scheme: "github", secret: `${secret}-wrong`, settings };
    const { id, ingest_path } = (await send(person.headers, sources, { body: wrong })).json;
    const signature = createHmac("sha256", secret).update("{}").digest("hex");
    await tryTo({ "x-github-delivery": "1", "x-hub-signature-256": `sha256=${signature}` }, ingest_path, { body: {} });
    const path = `${sources}/${id}/rejections`;
    const rejection = await eventually(async () => (await send(person.headers, path)).json.items[0]?.id ?? null);
    await send(person.headers, `${sources}/${id}`, { method: "PATCH", body: { secret } });
    return make(person, `${path}/${rejection}`);
  });

/** A received webhook that is kept as the bookmark `kept`. */
const bookmarked = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send }) => {
    const secret = randomBytes(24).toString("hex");
    const body = { ...newSource, scheme: "github", secret };
    const { id, ingest_path } = (await send(person.headers, sources, { body })).json;
    const signature = createHmac("sha256", secret).update("{}").digest("hex");
    await send({ "x-github-delivery": "1", "x-hub-signature-256": `sha256=${signature}` }, ingest_path, { body: {} });
    const path = `${sources}/${id}/received`;
    const webhook = `${path}/${(await send(person.headers, path)).json.items[0].id}`;
    await send(person.headers, `${webhook}/bookmark`, { body: { name: "kept" } });
    return make(person, webhook);
  });

/** A source whose sender does not know its key, so that a comparison ends at once. */
const readableSource = (make: (person: Person, path: string, key: object) => Attempt): Recipe =>
  fresh(async (person, { send, goneUrl }) => {
    const body = { ...newSource, scheme: "stripe" };
    const path = `${sources}/${(await send(person.headers, sources, { body })).json.id}`;
    const key = { sender: "stripe", key: "rk_test_of_nobody", api_url: goneUrl };
    await send(person.headers, `${path}/sender-key`, { method: "PUT", body: key });
    const runs = async () => (await send(person.headers, `${path}/reconciliations`)).json.items;
    await eventually(async () => (await runs())[0]?.status === "failed");
    return make(person, path, key);
  });

/** Recipes of each audited write to sources and received webhooks. */
export const ingestRecipes: Recipes = {
  "POST /api/v1/webhooks/sources": fresh((person) => rest(person, "POST", sources, newSource)),
  "PATCH /api/v1/webhooks/sources/{id}": source((person, path) =>
    rest(person, "PATCH", path, { secret: `whsec_${randomBytes(24).toString("base64")}` }),
  ),
  "POST /api/v1/webhooks/sources/{id}/secret/rotate": source((person, path) =>
    rest(person, "POST", `${path}/secret/rotate`, { secret: `whsec_${randomBytes(24).toString("base64")}` }),
  ),
  "DELETE /api/v1/webhooks/sources/{id}/secret/previous": rotatedSource((person, path) =>
    rest(person, "DELETE", `${path}/secret/previous`),
  ),
  "POST /api/v1/webhooks/sources/{id}/rotate-url": source((person, path) =>
    rest(person, "POST", `${path}/rotate-url`, { overlap_seconds: 60 }),
  ),
  "DELETE /api/v1/webhooks/sources/{id}/addresses/previous": rotatedSource((person, path) =>
    rest(person, "DELETE", `${path}/addresses/previous`),
  ),
  "POST /api/v1/webhooks/sources/{id}/replays": source((person, path) =>
    rest(person, "POST", `${path}/replays`, { from: "2026-01-01T00:00:00Z" }),
  ),
  "POST /api/v1/webhooks/sources/{id}/replays/{replay_id}/cancel": runningReplay((person, path) =>
    rest(person, "POST", `${path}/cancel`),
  ),
  "POST /api/v1/webhooks/sources/{id}/rejections/{rejection_id}/retry": mendedRejection((person, path) =>
    rest(person, "POST", `${path}/retry`),
  ),
  "POST /api/v1/webhooks/sources/{id}/received/{ref}/bookmark": bookmarked((person, path) =>
    rest(person, "POST", `${path}/bookmark`, { name: "another" }),
  ),
  "DELETE /api/v1/webhooks/bookmarks/{name}": bookmarked((person) =>
    rest(person, "DELETE", "/api/v1/webhooks/bookmarks/kept"),
  ),
  "PUT /api/v1/webhooks/sources/{id}/sender-key": readableSource((person, path, key) =>
    rest(person, "PUT", `${path}/sender-key`, key),
  ),
  "DELETE /api/v1/webhooks/sources/{id}/sender-key": readableSource((person, path) =>
    rest(person, "DELETE", `${path}/sender-key`),
  ),
  "POST /api/v1/webhooks/sources/{id}/reconcile": readableSource((person, path) =>
    rest(person, "POST", `${path}/reconcile`, { dry_run: true }),
  ),
  "DELETE /api/v1/webhooks/sources/{id}": source((person, path) => rest(person, "DELETE", path)),
  "Mutation.createWebhookSource": fresh((person) =>
    graph(person, "createWebhookSource", "CreateWebhookSourceInput", newSource),
  ),
  "Mutation.updateWebhookSource": sourceGraph(
    (id) => `updateWebhookSource(id: "${id}", input: { name: "Store", secret: "${newSource.secret}" })`,
  ),
  "Mutation.rotateWebhookSourceSecret": sourceGraph(
    (id) => `rotateWebhookSourceSecret(id: "${id}", input: { secret: "${newSource.secret}" })`,
  ),
  "Mutation.rotateWebhookSourceUrl": sourceGraph(
    (id) => `rotateWebhookSourceUrl(id: "${id}", input: { overlapSeconds: 60 })`,
  ),
  "Mutation.deletePreviousWebhookSourceSecrets": rotatedSource((person, path) =>
    mutation(person, `deletePreviousWebhookSourceSecrets(id: "${path.slice(sources.length + 1)}")`),
  ),
  "Mutation.deletePreviousWebhookSourceAddresses": rotatedSource((person, path) =>
    mutation(person, `deletePreviousWebhookSourceAddresses(id: "${path.slice(sources.length + 1)}")`),
  ),
  "Mutation.setWebhookSenderKey": readableSource((person, path) =>
    mutation(
      person,
      `setWebhookSenderKey(id: "${path.slice(sources.length + 1)}", input: { sender: "stripe", key: "rk_test_of_nobody", apiUrl: "https://stripe.invalid" })`,
    ),
  ),
  "Mutation.deleteWebhookSenderKey": readableSource((person, path) =>
    mutation(person, `deleteWebhookSenderKey(id: "${path.slice(sources.length + 1)}")`),
  ),
  "Mutation.reconcileWebhookSource": readableSource((person, path) =>
    mutation(person, `reconcileWebhookSource(id: "${path.slice(sources.length + 1)}", input: { dryRun: true })`),
  ),
  "Mutation.deleteWebhookSource": sourceGraph((id) => `deleteWebhookSource(id: "${id}")`),
  "Mutation.bookmarkReceivedWebhook": bookmarked((person, path) =>
    ofSource(
      person,
      path,
      `bookmarkReceivedWebhook(SOURCE, id: "${path.split("/").at(-1)}", input: { name: "another" })`,
    ),
  ),
  "Mutation.deleteWebhookBookmark": bookmarked((person) => mutation(person, `deleteWebhookBookmark(name: "kept")`)),
  "Mutation.createReceivedWebhookReplay": source((person, path) =>
    ofSource(person, path, `createReceivedWebhookReplay(SOURCE, input: { from: "2026-01-01T00:00:00Z" })`),
  ),
  "Mutation.cancelReceivedWebhookReplay": runningReplay((person, path) =>
    ofSource(person, path, `cancelReceivedWebhookReplay(SOURCE, id: "${path.split("/").at(-1)}")`),
  ),
  "Mutation.retryWebhookRejection": mendedRejection((person, path) =>
    ofSource(person, path, `retryWebhookRejection(SOURCE, id: "${path.split("/").at(-1)}")`),
  ),
};
