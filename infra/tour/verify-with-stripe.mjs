/**
 * A webhook receiver for the pages of docs/how-to: verifies deliveries with Stripe's own library, like a receiver
 * written for Stripe, and prints them. Runs on any Node.
 */
import { createServer } from "node:http";
import { argv, env } from "node:process";
import Stripe from "stripe";

const port = Number(argv[2] ?? 9001);
// biome-ignore lint/style/noProcessEnv: a program of a receiver, which knows nothing of our configuration
const secret = env.STRIPE_WEBHOOK_SECRET ?? "";
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    try {
      const event = Stripe.webhooks.constructEvent(body, String(request.headers["stripe-signature"]), secret);
      console.log(`verified by Stripe's library: ${event.type}\n  ${body}`);
      response.writeHead(204).end();
    } catch (error) {
      console.log(`refused: ${String(error).split("\n")[0]}`);
      response.writeHead(400).end();
    }
  });
});
server.listen(port, "127.0.0.1", () => console.log(`Waiting for webhooks on http://127.0.0.1:${port}`));
