import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";

/** Run by `systems.ts`: receivers that answer 200 and record the arrival of each delivery. `/hang` never answers. */
let arrivals: { id: string; atMs: number }[] = [];

const receive: RequestListener = (request, response) => {
  const id = String(request.headers["webhook-id"]);
  request.resume().on("end", () => {
    if (request.url === "/hang") return;
    arrivals.push({ id, atMs: performance.timeOrigin + performance.now() });
    response.end();
  });
};
const server = createServer({ keepAliveTimeout: 60_000 }, receive).listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  for (const host of process.argv.slice(2)) createServer(receive).listen(port, host);
  process.send?.(port);
});

process.on("message", (message) => {
  process.send?.(message === "count" ? arrivals.length : arrivals);
  if (message === "take") arrivals = [];
});
process.on("disconnect", () => process.exit(0));
