import assert from "node:assert/strict";
import { test } from "node:test";
import { alerts } from "@signalbox/infra/observe/alerts/alerts.ts";
import { machineFaults } from "../faults/machine-faults.ts";
import { fillIn, fillInIncidents, fillInMachines } from "./reliability-page.ts";
import type { PlayedRound } from "./results.ts";

const marks = (mode: string, text: string) => `<!-- ${mode}:start -->\n${text}\n<!-- ${mode}:end -->`;
const page = (text: string) => `# A page\n\n${marks("embedded", text)}\n\nWords.\n\n${marks("engines", text)}\n`;
const figures = { acknowledged: 10, records: 100, repeatedOnLog: 1, receipts: 100, repeatedAtReceiver: 0 };
const round = (given: Partial<PlayedRound>): PlayedRound => ({
  ...figures,
  mode: "embedded",
  seed: 7,
  day: "2026-01-01",
  commit: "aaaaaaaa",
  cores: 2,
  fault: "kill",
  ofLog: false,
  violations: 0,
  recoveryMs: 1_000,
  settleMs: 1_000,
  ...given,
});

test("each mode has the table of its own rounds, and the words between them stay", () => {
  const told = fillIn(page("old"), [
    round({ undoMs: 400 }),
    round({ mode: "engines", fault: "dead broker", ofLog: true }),
  ]);
  const [embedded = "", engines = ""] = told.split("Words.");
  assert.match(embedded, /1 rounds \(1 of seed 7\), 2026-01-01, commit aaaaaaaa, 2 cores:/);
  assert.match(embedded, /\| kill \| 1 \| 10 \| 0 \| 1\.00 % \| 0\.00 % \| 0\.4 s \| 1\.0 s \| 1\.0 s \| 1\.0 s \|/);
  assert.match(engines, /dead broker.*\| – \| 1\.0 s \| 1\.0 s \| 1\.0 s \|/, "it was played before that was measured");
  assert.doesNotMatch(told, /old/);
  assert.equal(fillIn(told, []), page("No rounds yet."));
});

test("every commit is named, and so is a round that broke a promise or never recovered", () => {
  const red = round({ commit: "bbbbbbbb", seed: 8, violations: 2, recoveryMs: Number.POSITIVE_INFINITY });
  const told = fillIn(page(""), [round({}), red]);
  assert.match(told, /commit aaaaaaaa, commit bbbbbbbb, 2 cores, broken in kill of seed 8 on bbbbbbbb:/);
  assert.match(told, /\| \*\*all\*\* \| 2 \| 20 \| 2 \|.*\| never \|/);
});

test("rounds of long ago make room for newer ones", () => {
  const old = round({ commit: "00000000", violations: 1 });
  const told = fillIn(page(""), [old, ...Array.from({ length: 300 }, () => round({}))]);
  assert.doesNotMatch(told, /00000000/);
  assert.match(told, /\| \*\*all\*\* \| 300 \| 3000 \| 0 \|/);
});

test("a fault of a machine has a row for each mode it was played in, and is named while it was not", () => {
  const begin = () => Promise.resolve({ undo: async () => {} });
  const fault = {
    name: "disk full",
    modes: ["embedded" as const],
    lastsMs: 0,
    users: "503",
    alerts: ["DiskFull"],
    begin,
  };
  const place = "<!-- machines:start -->old<!-- machines:end -->";
  const rounds = [1_000, 9_000].map((undoMs) => round({ fault: "disk full", undoMs, writesInFault: 10, heldUp: 5 }));
  const told = fillInMachines(place, [fault, { ...fault, name: "node lost" }], rounds);
  assert.match(told, /2 rounds of seed 7, commit aaaaaaaa:/);
  const links = "\\[DiskFull\\]\\(\\.\\.\\/runbooks\\.md#diskfull\\)";
  assert.match(
    told,
    new RegExp(
      `\\| disk full \\| embedded \\| 2 \\| 503 \\| 50\\.00 % \\| ${links} \\| 0 \\| 0\\.00 % \\| 1\\.0 s \\| 9\\.0 s \\| 9\\.0 s \\|`,
    ),
  );
  assert.match(told, /\| node lost \| not played yet \| – \| 503 \|/);
  assert.doesNotMatch(told, /old<!--/);
});

test("a fault of a machine says what users see, and which alerts there are tell of it", () => {
  const names = alerts.map(({ name }) => name);
  for (const { name, users, alerts: own = [] } of machineFaults) {
    assert.ok(users && own.length > 0, name);
    assert.deepEqual(
      own.filter((alert) => !names.includes(alert)),
      [],
      name,
    );
  }
});

test("of an incident the newest drill is told", () => {
  const drill = {
    incident: "full disk",
    alert: "DiskFull",
    done: "freed",
    toMendMs: 1_000,
    toEndMs: 61_000,
    day: "2026-01-01",
  };
  const told = fillInIncidents("<!-- incidents:start -->old<!-- incidents:end -->", [
    { ...drill, toAlertMs: 9_000, commit: "aaaaaaaa" },
    { ...drill, toAlertMs: 5_000, commit: "bbbbbbbb" },
  ]);
  assert.match(
    told,
    /\| full disk \| \[DiskFull\].* \| 0 min 5 s \| 0 min 1 s \| 1 min 1 s \| freed \| 2026-01-01, bbbbbbbb \|/,
  );
  assert.doesNotMatch(told, /aaaaaaaa|old<!--/);
});
