import { verify, WebhookVerificationError } from "@signalbox/client/webhooks";
import { Hono } from "hono";
import { handle, secret } from "./handle.ts";

export const app = new Hono();
app.post("/webhooks", async (context) => {
  try {
    await handle(await verify(await context.req.arrayBuffer(), context.req.raw.headers, secret));
    return context.body(null, 204);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return context.json({ error: error.code }, 400);
  }
});
