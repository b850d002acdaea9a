/** A webhook receiver for the README's tour: acknowledges every delivery and prints it. Runs on any Node. */
import { createServer } from "node:http";

const port = Number(process.argv[2] ?? 9000);
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    console.log(`${request.headers["x-event-type"]}  ${request.headers["x-signature"]}`);
    console.log(`  ${Buffer.concat(chunks).toString("utf8").slice(0, 140)}…`);
    response.writeHead(204).end();
  });
});
server.listen(port, "127.0.0.1", () => console.log(`Waiting for deliveries on http://127.0.0.1:${port}`));
