import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { verify, WebhookVerificationError } from "@signalbox/client/webhooks";

const [secret = "", port = "8000"] = process.argv.slice(2);
createServer(async (request, response) => {
  try {
    const event = await verify(await buffer(request), request.headers, secret);
    if (event.type === "image.created") process.stdout.write(`${event.data.filename} is ${event.data.width} wide\n`);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end();
  }
}).listen(Number(port), "127.0.0.1");
