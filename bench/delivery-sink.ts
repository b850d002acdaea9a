import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { hangingHosts } from "./hanging-hosts.ts";

/**
 * The receivers of a bench, in a process of their own: they answer 200 and record the arrival of each delivery. `/hang`
 * never answers.
 */

let arrivals: { id: string; atMs: number }[] = [];

const take: RequestListener = (request, response) => {
  const id = String(request.headers["webhook-id"]);
  request.resume().on("end", () => {
    if (request.url === "/hang") return;
    arrivals.push({ id, atMs: performance.timeOrigin + performance.now() });
    response.end();
  });
};
const server = createServer({ keepAliveTimeout: 60_000 }, take).listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  // Attempts are limited per host, over all accounts: hanging ones have other hosts.
  for (const address of hangingHosts) createServer(take).listen(port, address);
  process.send?.({ port });
});

process.on("message", (message) => {
  if (message === "count") process.send?.({ count: arrivals.length });
  if (message === "take") {
    process.send?.({ arrivals });
    arrivals = [];
  }
});
process.on("disconnect", () => process.exit(0));
