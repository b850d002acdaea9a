import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock } from "@signalbox/core";
import { createLogger } from "./index.ts";

function outageUnderTest() {
  const clock = createManualClock(new Date("2026-02-03T04:05:06Z"));
  const texts: string[] = [];
  const destination = { write: (line: string) => void texts.push(line) };
  const log = createLogger({ service: "images", instance: "i", level: "info", clock, destination });
  const lines = () =>
    texts.splice(0).map((text) => {
      const { level, msg, part, parts, reason, failures, away_ms } = JSON.parse(text);
      return { level, msg, part, parts, reason, failures, away_ms };
    });
  return { clock, log, lines };
}

test("an outage is one line at its beginning, one every 30 s with the failures, one at its end", () => {
  const { clock, log, lines } = outageUnderTest();
  const broken = new Error("publishing failed", { cause: new Error("connect ECONNREFUSED") });
  for (let second = 0; second < 70; second++) {
    log.outage("The event log").failed("relay", broken);
    log.child({ part: "x" }).outage("The event log").failed("consumer", broken);
    clock.advance(1_000);
  }
  log.outage("The event log").passed("relay");
  assert.deepEqual(
    lines().map(({ msg, failures, parts, away_ms }) => [msg, failures, parts, away_ms]),
    [
      ["The event log is away", 1, 1, 0],
      ["The event log is still away", 61, 2, 30_000],
      ["The event log is still away", 121, 2, 60_000],
    ],
  );
  log.outage("The event log").passed("consumer");
  log.outage("The event log").passed("consumer");
  const [end, ...more] = lines();
  assert.deepEqual([end?.level, end?.msg, end?.failures, end?.away_ms], ["info", "The event log is back", 140, 70_000]);
  assert.deepEqual(more, []);
});

test("the line names the part and the reason with its causes, without a stack", () => {
  const { log, lines } = outageUnderTest();
  log.outage("The database").failed("relay", new Error("no answer", { cause: new Error("ECONNRESET") }));
  const [line] = lines();
  assert.deepEqual([line?.level, line?.part, line?.reason], ["warn", "relay", "no answer: ECONNRESET"]);
});

test("a part that has ended does not keep an outage open, and the next one starts again", () => {
  const { clock, log, lines } = outageUnderTest();
  const outage = log.outage("The database");
  outage.failed("gone", new Error("away"));
  clock.advance(121_000);
  outage.failed("relay", new Error("away"));
  outage.passed("relay");
  outage.failed("relay", new Error("away"));
  assert.deepEqual(
    lines().map(({ msg }) => msg),
    ["The database is away", "The database is still away", "The database is back", "The database is away"],
  );
});
