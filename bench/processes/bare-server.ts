import type { AddressInfo } from "node:net";
import express from "express";

/**
 * Express 5 with one route, which answers the same bytes as the service under test, and reads the body of a POST first.
 */
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
// After a failure of the bench nothing else stops this process.
process.once("disconnect", () => process.exit());
