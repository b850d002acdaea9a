import type { WebhookEvent } from "@signalbox/client/webhooks";

/** The receiver's own: from the environment or a store of secrets. */
export const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

export const handled: string[] = [];
const seen = new Set<string>();

/** Does the work of an event once: a delivery may come twice. */
export async function handle(event: WebhookEvent): Promise<void> {
  if (seen.has(event.id)) return;
  seen.add(event.id);
  switch (event.type) {
    case "image.created":
      handled.push(`${event.data.filename} is ${event.data.width} pixels wide`);
      break;
    case "webhook_endpoint.disabled":
      handled.push(`${event.data.url} is disabled`);
      break;
    default:
      handled.push(`${event.type} has unknown data`);
  }
}
