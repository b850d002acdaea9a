import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";

/** The receivers of a bench, in a process of their own: they answer 200 and note when each delivery came. `/hang` never answers. */

let arrivals: { id: string; atMs: number }[] = [];

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const id = String(request.headers["webhook-id"]);
  request.resume().on("end", () => {
    if (request.url === "/hang") return;
    arrivals.push({ id, atMs: performance.timeOrigin + performance.now() });
    response.end();
  });
});
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on("message", (message) => {
  if (message === "count") process.send?.({ count: arrivals.length });
  if (message === "take") {
    process.send?.({ arrivals });
    arrivals = [];
  }
});
process.on("disconnect", () => process.exit(0));
