import { verify, WebhookVerificationError } from "@signalbox/client/webhooks";
import express from "express";
import { handle, secret } from "./handle.ts";

export const app = express();
// Before any `express.json()`, which would take the bytes away.
app.post("/webhooks", express.raw({ type: () => true, limit: "2mb" }), async (request, response) => {
  try {
    await handle(await verify(request.body, request.headers, secret));
    response.sendStatus(204);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.status(400).json({ error: error.code });
  }
});
