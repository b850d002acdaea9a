import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { eventually } from "@signalbox/testing";
import { type Answer, expectStatus } from "../journey/client.ts";
import { services } from "../systems/engines-system.ts";
import { becomesReady, delivered, recoveryMs, type Scene } from "./scene.ts";

/** Requests that were accepted while services died. */
interface Accepted {
  readonly webhooks: string[];
  readonly images: string[];
}

/** Kills every process once while callers write, restarts it, and looks for every accepted request. */
export async function killedServices(scene: Scene): Promise<void> {
  const accepted: Accepted = { webhooks: [], images: [] };
  const done = new AbortController();
  const writers = [writesWebhooks(scene, accepted, done.signal), writesImages(scene, accepted, done.signal)];
  try {
    for (const service of services) {
      const before = accepted.webhooks.length + accepted.images.length;
      await scene.system.process(service).current.kill();
      await scene.system.process(service).restart();
      const hasMore = () => accepted.webhooks.length + accepted.images.length > before;
      await eventually(hasMore, { timeoutMs: recoveryMs, message: `writes go on after the death of ${service}` });
    }
  } finally {
    done.abort();
    await Promise.all(writers);
  }
  assert.ok(accepted.webhooks.length > 0 && accepted.images.length > 0);
  for (const id of accepted.webhooks) await delivered(scene, "webhook.received", id);
  for (const id of accepted.images) {
    await delivered(scene, "image.created", id);
    await becomesReady(scene, id);
    await delivered(scene, "image.rendition_ready", id);
  }
  expectStatus(await scene.send("/api/account/"), 200);
}

async function writesWebhooks(scene: Scene, { webhooks }: Accepted, done: AbortSignal): Promise<void> {
  while (!done.aborted) {
    const id = randomBytes(8).toString("hex");
    const answer = await attempt(() => scene.partnerPosts(id));
    if (answer?.status === 202) webhooks.push(id);
    else await expectOutage(answer);
  }
}

async function writesImages(scene: Scene, { images }: Accepted, done: AbortSignal): Promise<void> {
  while (!done.aborted) {
    const answer = await attempt(() => scene.uploads("while services die"));
    if (answer?.status === 201) images.push(answer.json.id);
    else await expectOutage(answer);
    // A photograph costs the worker a hundred times as much as a webhook.
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

const attempt = (write: () => Promise<Answer>): Promise<Answer | null> => write().catch(() => null);

/** Expects no answer at all, or one that says that the service is unavailable. */
async function expectOutage(answer: Answer | null): Promise<void> {
  if (answer !== null) assert.ok([502, 503, 504].includes(answer.status), `${answer.status} ${answer.bytes}`);
  await new Promise((resolve) => setTimeout(resolve, 50));
}
