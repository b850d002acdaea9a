import type { AddressInfo } from "node:net";
import express from "express";

/** Express 5 with one route, which answers what the service under test answered, and to POST has read the body before. */
const [path = "/", body = "{}"] = process.argv.slice(2);
const answer = JSON.parse(body);

const app = express();
app.get(path, (_request, response) => {
  response.json(answer);
});
app.post(path, express.json(), (_request, response) => {
  response.json(answer);
});
const server = app.listen(0, "127.0.0.1", () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
});
// A bench that failed has nobody left to stop it.
process.once("disconnect", () => process.exit());
