import { verify, WebhookVerificationError } from "@signalbox/client/webhooks";
import createFastify from "fastify";
import { handle, secret } from "./handle.ts";

export const app = createFastify({ bodyLimit: 2_000_000 });
app.register(async (webhooks) => {
  webhooks.removeAllContentTypeParsers();
  webhooks.addContentTypeParser("*", { parseAs: "buffer" }, async (_request: unknown, body: Buffer) => body);
  webhooks.setErrorHandler<Error>((error, _request, reply) => {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return reply.code(400).send({ error: error.code });
  });
  webhooks.post<{ Body: Buffer }>("/webhooks", async (request, reply) => {
    await handle(await verify(request.body, request.headers, secret));
    return reply.code(204).send();
  });
});
