import { eventually } from "@signalbox/testing";
import type { Headers } from "../../audit/world.ts";
import { githubHeaders, photoForm } from "../../journey/client.ts";
import type { TrustingScene, Victim } from "../scene/trusting-scene.ts";

/** An owner with one of each resource. */
export interface Owner extends Victim {
  readonly things: Things;
}

/** The ids of one of each resource of an account. */
export interface Things {
  readonly account: string;
  readonly key: string;
  readonly identity: string;
  readonly image: string;
  /** An open upload. */
  readonly upload: string;
  /** The name of a transformation. */
  readonly transformation: string;
  /** A deleted image. */
  readonly deletion: string;
  readonly source: string;
  readonly endpoint: string;
  /** An endpoint whose consumers pull: its messages and consumers can be read. */
  readonly pullEndpoint: string;
  readonly delivery: string;
  /** A webhook that the source has received, refused and published again. */
  readonly received: string;
  readonly rejection: string;
  /** A retry of the rejections of the source. */
  readonly rejectionRetry: string;
  /** The name of a bookmark of the received webhook. */
  readonly bookmark: string;
  readonly replay: string;
  /** A comparison of the source with its sender's list, which the sender refused. */
  readonly reconciliation: string;
}

/** Creates an owner with one of each resource. */
export async function ownerOfEverything(scene: TrustingScene): Promise<Owner> {
  const { world, receiver } = scene;
  const victim = await scene.person();
  const { headers } = victim;
  const make = async (path: string, body: unknown): Promise<string> =>
    (await world.send(headers, path, { body })).json.id;
  const endpoint = await make("/api/v1/webhooks/endpoints", {
    url: `${receiver.url}/ok`,
    event_types: ["account.updated"],
  });
  const announced = { filename: "theirs.jpg", mime_type: "image/jpeg", size_bytes: world.photo.length };
  const [key, identity, source, pullEndpoint, image, deletion, upload] = await Promise.all([
    make("/api/account/api-keys/", { name: "theirs", scopes: ["account:read"] }),
    make("/api/account/identities/", { token: scene.newcomer() }),
    make("/api/v1/webhooks/sources", { name: "Theirs", scheme: "github", secret }),
    make("/api/v1/webhooks/endpoints", { type: "pull", event_types: ["order.created"] }),
    make("/images", photoForm(world.photo)),
    make("/images", photoForm(world.photo)),
    make("/images/uploads", announced),
  ]);
  await world.send(headers, `/images/${deletion}`, { method: "DELETE" });
  const transformation = `theirs-${crypto.randomUUID().slice(0, 8)}`;
  const named = { method: "PUT", body: { form: { width: 480 } } };
  await world.send(headers, `/images/transformations/${transformation}`, named);
  const delivery = await deliveryOf(scene, headers);
  const received = await receivedAt(scene, headers, source);
  const bookmark = `bookmark-${crypto.randomUUID()}`;
  await make(`/api/v1/webhooks/sources/${source}/received/${received}/bookmark`, { name: bookmark });
  const replay = await make(`/api/v1/webhooks/sources/${source}/replays`, { from: "2026-01-01T00:00:00Z" });
  const rejection = await rejectedAt(scene, headers, source);
  const rejectionRetry = await make(`/api/v1/webhooks/sources/${source}/rejections/retry`, {});
  const reconciliation = await reconciledAt(scene, headers, source);
  const deliveries = {
    source,
    endpoint,
    pullEndpoint,
    delivery,
    received,
    rejection,
    rejectionRetry,
    bookmark,
    replay,
    reconciliation,
  };
  const owned = { key, identity, image, upload, transformation, deletion, ...deliveries };
  return { ...victim, things: { account: victim.id, ...owned } };
}

const secret = "the secret of the victim";

async function receivedAt({ world }: TrustingScene, headers: Headers, source: string): Promise<string> {
  const body = Buffer.from('{"for":"the victim"}');
  await world.send(githubHeaders(secret, body), `/ingest/${source}`, { body });
  return (await world.send(headers, `/api/v1/webhooks/sources/${source}/received`)).json.items[0].id;
}

async function rejectedAt({ world }: TrustingScene, headers: Headers, source: string): Promise<string> {
  const forged = { "x-github-delivery": crypto.randomUUID(), "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
  await world.tryTo(forged, `/ingest/${source}`, { body: {} });
  const path = `/api/v1/webhooks/sources/${source}/rejections`;
  return eventually(async () => (await world.send(headers, path)).json.items[0]?.id ?? null);
}

async function reconciledAt({ world, receiver }: TrustingScene, headers: Headers, source: string): Promise<string> {
  const path = `/api/v1/webhooks/sources/${source}`;
  const place = { sender: "github", repository: "victim/shop", hook_id: 1, api_url: `${receiver.url}/gone` };
  await world.send(headers, `${path}/sender-key`, { method: "PUT", body: { ...place, key: "the-key-of-the-victim" } });
  const runs = async () => (await world.send(headers, `${path}/reconciliations`)).json.items;
  return eventually(
    async () => (await runs()).find(({ status }: { status: string }) => status === "failed")?.id ?? null,
  );
}

async function deliveryOf({ world }: TrustingScene, headers: Headers): Promise<string> {
  await world.send(headers, "/api/account/", {
    method: "PATCH",
    body: { display_name: `Delivered ${crypto.randomUUID()}` },
  });
  const message = "the event is delivered";
  return eventually(async () => (await world.send(headers, "/api/v1/webhooks/deliveries")).json.items[0]?.id ?? null, {
    message,
  });
}

/** Fills the parameters of a path; null for a path of a resource that no owner has. */
export function pathTo(template: string, things: Things): string | null {
  const byParameter: Readonly<Record<string, string>> = {
    account_id: things.account,
    key_id: things.key,
    identity_id: things.identity,
    image_id: template.includes("/deletions/") ? things.deletion : things.image,
    upload_id: things.upload,
    rejection_id: things.rejection,
    replay_id: things.replay,
    retry_id: things.rejectionRetry,
    reconciliation_id: things.reconciliation,
    ref: things.received,
  };
  const byPath = [
    ["/sources/", things.source],
    ["/bookmarks/", things.bookmark],
    ["/transformations/", things.transformation],
    ["/endpoints/{id}/messages", things.pullEndpoint],
    ["/endpoints/{id}/consumers", things.pullEndpoint],
    ["/endpoints/", things.endpoint],
    ["/deliveries/", things.delivery],
  ] as const;
  const path = template.replaceAll(/\{(\w+)\}/g, (whole, parameter: string) => {
    return byParameter[parameter] ?? byPath.find(([part]) => template.includes(part))?.[1] ?? whole;
  });
  return path.includes("{") ? null : path;
}
