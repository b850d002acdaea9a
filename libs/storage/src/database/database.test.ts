import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { AppError, hours, isUnavailable } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import { serviceWith } from "@signalbox/testing";
import fc from "fast-check";
import { atStart } from "./at-start.ts";
import { stretchesBack } from "./day-tables.ts";
import { isSerializationFailure, isUniqueViolation, toAppError } from "./errors.ts";

const withCode = (code: string, more = {}) => Object.assign(new Error(`failed with ${code}`), { code, ...more });

/** Errors of Prisma 7.10 over @prisma/adapter-pg. */
const prisma = {
  unique: withCode("P2002", {
    meta: {
      modelName: "Account",
      driverAdapterError: {
        cause: { originalCode: "23505", kind: "UniqueConstraintViolation", constraint: { index: "Account_name_key" } },
      },
    },
  }),
  unreachable: withCode("P1001"),
  busy: withCode("unavailable"),
  timeout: withCode("P2010", { meta: { driverAdapterError: { cause: { originalCode: "57014", kind: "postgres" } } } }),
};

describe("a database that is away, overloaded or too slow", () => {
  const cases: [string, unknown][] = [
    ["connection refused", withCode("ECONNREFUSED")],
    ["refused on IPv6 and IPv4", new AggregateError([withCode("ECONNREFUSED"), withCode("ECONNREFUSED")])],
    ["name not found", withCode("ENOTFOUND")],
    ["connection failure", withCode("08006")],
    ["admin shutdown", withCode("57P01")],
    ["starting up", withCode("57P03")],
    ["statement timeout", withCode("57014")],
    ["too many connections", withCode("53300")],
    ["disk full", withCode("53100")],
    ["a standby after a failover", withCode("25006")],
    ["deadlock that did not resolve", withCode("40P01")],
    ["pool timeout", new Error("timeout exceeded when trying to connect")],
    ["broken socket", new Error("Connection terminated unexpectedly")],
    ["a silent server", new Error("Query read timeout")],
    ["wrapped", new Error("store failed", { cause: withCode("ECONNRESET") })],
    ["Prisma: unreachable", prisma.unreachable],
    ["Prisma: our own refusal of an overload", prisma.busy],
    ["Prisma: statement timeout", prisma.timeout],
  ];
  for (const [name, error] of cases) {
    it(`is unavailable with Retry-After: ${name}`, () => {
      assert.equal(isUnavailable(error), true);
      const mapped = toAppError(error) as AppError;
      assert.deepEqual(
        [mapped.name, mapped.code, mapped.retryAfterSeconds, mapped.cause],
        ["AppError", "unavailable", 2, error],
      );
    });
  }
});

describe("what is not an outage", () => {
  it("stays what it is: bugs, refusals, other codes, no error at all", () => {
    const refusal = new AppError("not_found", "There is none.");
    for (const error of [
      new TypeError("x"),
      withCode("23505"),
      withCode("42P01"),
      withCode("P2025"),
      refusal,
      null,
      "text",
    ]) {
      assert.equal(isUnavailable(error), false);
      assert.equal(toAppError(error), error);
    }
  });

  it("an AppError is never wrapped again", () => {
    const away = new AppError("unavailable", "Away.", { retryAfterSeconds: 7 });
    assert.equal(toAppError(away), away);
  });
});

it("a unique violation is told from others, in pg's words and Prisma's, by its index if asked", () => {
  const pg = withCode("23505", { constraint: "Account_name_key" });
  for (const error of [pg, prisma.unique, new Error("store failed", { cause: pg })]) {
    assert.equal(isUniqueViolation(error), true);
    assert.equal(isUniqueViolation(error, "Account_name_key"), true);
    assert.equal(isUniqueViolation(error, "Account_email_key"), false);
  }
  assert.equal(isUniqueViolation(withCode("23503")), false);
});

it("only a serialization failure or deadlock is worth repeating", () => {
  const codes = ["40001", "40P01", "40002", "23505", "57P01"];
  assert.deepEqual(
    codes.map((code) => isSerializationFailure(withCode(code))),
    [true, true, false, false, false],
  );
});

test("stretches go back without gap or overlap, in few steps", () => {
  const years = fc.integer({ min: 0, max: 3650 * hours(24) });
  const bounds = fc.tuple(years, years).map(([one, other]) => ({
    fromMs: Math.min(one, other),
    toMs: Math.max(one, other),
  }));
  fc.assert(
    fc.property(bounds, ({ fromMs, toMs }) => {
      const stretches = [...stretchesBack({ fromMs, toMs })];
      let end = toMs;
      for (const stretch of stretches) {
        assert.equal(stretch.toMs, end);
        assert.ok(stretch.fromMs < stretch.toMs);
        end = stretch.fromMs;
      }
      assert.equal(end, fromMs);
    }),
  );
  assert.equal([...stretchesBack({ fromMs: 0, toMs: hours(24) * 365 })].length, 8);
});

const log = serviceWith<Logger>({ warn: () => {} });
const away = () => new AppError("unavailable", "The service cannot reach its database right now.");

/** Work that fails this many times before it succeeds. */
function failing(times: number, error: () => Error) {
  let tries = 0;
  return {
    tries: () => tries,
    work: async () => {
      if (++tries <= times) throw error();
      return "done";
    },
  };
}

test("a short outage of the database does not end a start", async () => {
  const { work, tries } = failing(2, away);
  assert.equal(await atStart(work, { waitMs: 60_000, log }), "done");
  assert.equal(tries(), 3);
});

test("a start ends after a lasting outage, at once after any other failure", async () => {
  await assert.rejects(atStart(failing(9, away).work, { waitMs: 0, log }), /cannot reach/);
  const broken = failing(1, () => new Error("syntax error"));
  await assert.rejects(atStart(broken.work, { waitMs: 60_000, log }), /syntax error/);
  assert.equal(broken.tries(), 1);
});
