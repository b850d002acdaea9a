import type { Headers } from "../audit/world.ts";

export const subscriptionFields = [
  "accountChanged",
  "imageChanged",
  "webhookReceived",
  "webhookRejected",
  "deliveryAttempted",
  "configChanged",
] as const;
export type Field = (typeof subscriptionFields)[number];
export const documentOf = (field: Field) => `subscription { ${field} { cursor event { id } } }`;

export const eventStream = "text/event-stream";

/** Returns a valid cursor of a subscription: that of its opening comment. */
export async function cursorOf(baseUrl: string, headers: Headers, field: Field): Promise<string> {
  const response = await fetch(`${baseUrl}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: eventStream, ...headers },
    body: JSON.stringify({ query: documentOf(field) }),
    signal: AbortSignal.timeout(30_000),
  });
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const [, cursor] = /^id: ?(\S+)$/m.exec(text) ?? [];
    if (cursor !== undefined) return cursor;
  }
  throw new Error(`there was no cursor: ${text}`);
}
