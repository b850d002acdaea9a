import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "./app-error.ts";
import { isUnavailable } from "./unavailable.ts";

const withCode = (code: string, more = {}) => Object.assign(new Error(`failed with ${code}`), { code, ...more });
const refused = withCode("ECONNREFUSED");
const bug = new TypeError("x is not a function");

/** The errors that a worker's supervisor and a request once classified differently. */
const disputed: readonly [string, unknown, boolean][] = [
  ["a connection that was aborted here", withCode("ECONNABORTED"), true],
  ["a statement that took too long", withCode("57014"), true],
  ["a full disk", withCode("53100"), true],
  ["a standby that accepts no writes", withCode("25006"), true],
  ["a transaction that sat idle for too long", withCode("25P03"), true],
  ["a transaction that took too long", withCode("25P04"), true],
  ["a lock that was not to be had", withCode("55P03"), true],
  ["a serialization failure", withCode("40001"), true],
  ["a deadlock", withCode("40P01"), true],
  ["a database that is not there yet", withCode("3D000"), true],
  ["a database that was dropped", withCode("57P04"), true],
  ["Prisma: it cannot reach the server", withCode("P1001"), true],
  ["Prisma: the SQLSTATE that its adapter keeps", { originalCode: "57P01" }, true],
  ["Prisma: the driver's error in meta", withCode("P2010", { meta: { driverAdapterError: { cause: refused } } }), true],
  ["pg: a broken socket", new Error("Connection terminated unexpectedly"), true],
  ["pg: no connection in time", new Error("timeout exceeded when trying to connect"), true],
  ["pg: a connection takes too long", new Error("timeout expired"), true],
  ["pg: a silent server", new Error("Query read timeout"), true],
  ["a socket file that is not there", withCode("ENOENT", { syscall: "connect" }), true],
  ["a file that is not there", withCode("ENOENT", { syscall: "open" }), false],
  ["refused on IPv4, no address on IPv6", new AggregateError([withCode("EADDRNOTAVAIL"), refused]), true],
  ["a thrown value that is not an Error", { code: "ECONNREFUSED" }, true],
  ["our refusal, copied by Prisma", withCode("unavailable"), true],
];

for (const [name, error, expected] of disputed) {
  test(`${expected ? "is waited out" : "is a failure"}: ${name}`, () => assert.equal(isUnavailable(error), expected));
}

test("an error that wraps an outage is one, one that wraps a bug is not, and a cycle ends", () => {
  assert.equal(isUnavailable(new Error("store failed", { cause: refused })), true);
  assert.equal(isUnavailable(new AppError("server_error", "No.", { cause: bug })), false);
  assert.equal(isUnavailable(new AggregateError([bug, bug])), false);
  const circle = new Error("circle");
  circle.cause = circle;
  assert.equal(isUnavailable(circle), false);
});

test("an error without a code is not classified", () => {
  for (const error of [bug, withCode("23505"), withCode("P2025"), new AppError("not_found", "No."), null, "text", 7])
    assert.equal(isUnavailable(error), false);
});
