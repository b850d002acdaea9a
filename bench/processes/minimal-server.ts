import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of Node alone with one answer, and 304 for a client that has it: the least that HTTP costs here. */
const [body = "", contentType = "text/plain", etag = ""] = process.argv.slice(2);
const bytes = Buffer.from(body, "base64");

const server = createServer((request, response) => {
  if (request.headers["if-none-match"] === etag) {
    response.writeHead(304, { ETag: etag }).end();
    return;
  }
  response.writeHead(200, { ETag: etag, "Content-Type": contentType, "Content-Length": bytes.length }).end(bytes);
});
server.listen(0, "127.0.0.1", () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
process.once("disconnect", () => process.exit());
