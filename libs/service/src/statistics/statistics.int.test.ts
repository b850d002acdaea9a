import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createManualClock, hours, minutes } from "@signalbox/core";
import { openPool, type Pool, sql } from "@signalbox/storage";
import { serviceDatabase, type TestDatabase, testContext } from "@signalbox/testing";
import fc from "fast-check";
import { addToTable, type FigureTable } from "./figures.ts";
import { type FreshEntry, freshBatch } from "./fresh-figures.ts";
import { addToBin, binOf, binsOf, type Histogram } from "./histogram.ts";
import { CountedStatistics } from "./keep-statistics.ts";
import { createStatistics, periodMinutes } from "./statistics.ts";

/** The tables are those of a service that has them. */
const context = testContext("webhook-delivery", {});
const start = Date.parse("2026-03-01T00:00:00.000Z");
const end = start + hours(72);
const clock = createManualClock(new Date(start));
let database: TestDatabase;
let pool: Pool;
let gone: Set<string>;
/** Ends the connection in the middle of the next step. */
let killNext = false;

const insert = sql("", "insert into signalbox.fresh_statistics (batch, counted) values ($1, $2)");
const counted = sql(
  "",
  "select period::int, rolled, count(*)::int from signalbox.statistics where subject_id = $1 group by 1, 2 order by 1, 2",
);

before(async () => {
  database = await serviceDatabase("webhook-delivery");
  pool = openPool({ url: database.url, max: 4, applicationName: "statistics-test", ...context });
});
beforeEach(async () => {
  gone = new Set();
  killNext = false;
  clock.set(new Date(start));
  for (const table of ["statistics", "fresh_statistics"]) await pool.query(sql("", `delete from signalbox.${table}`));
});
after(async () => {
  await context.close();
  await database.close();
});

/** A step asks for the living in its middle, and may lose its connection there. */
const living = () => {
  const text = `select id from unnest($1::text[]) as given (id) where id <> all ('{${[...gone]}}'::text[])`;
  return sql("", killNext ? `${text} and pg_terminate_backend(pg_backend_pid())` : text);
};
const statistics = () => createStatistics({ pool, clock, livingSubjects: living() });

interface Counted {
  readonly account: string;
  readonly subject: string;
  readonly atMs: number;
  readonly label: string;
  readonly durations: readonly number[];
}

const entriesOf = ({ account, subject, atMs, label, durations }: Counted): FreshEntry[] =>
  durations.map((durationMs) => ({
    accountId: account,
    subjectId: subject,
    atMs: atMs + 59_999,
    labels: [label],
    counts: [1, 2],
    durationMs,
  }));

/** Writes a batch, beside an entry that does not count. */
const count = async (...some: Counted[]) => {
  const entries = some.flatMap(entriesOf);
  const places = entries.map((_, index) => index + 2);
  await pool.query(insert, [freshBatch([...entries.slice(0, 1), ...entries]), places]);
};

/** Sums up what was read, in a form that does not depend on where it was found. */
function sumOf(rows: readonly { figures: Parameters<typeof addToTable>[1] }[]) {
  const table: FigureTable = new Map();
  for (const { figures } of rows) addToTable(table, figures);
  return [...table.values()]
    .map(({ labels, counts, histogram }) => [labels[0], counts, [...histogram].toSorted(([a], [b]) => a - b)])
    .toSorted(([one], [other]) => String(one).localeCompare(String(other)));
}

const expectedOf = (all: readonly Counted[], id: string, fromMs: number, toMs: number) =>
  sumOf(
    all
      .filter(({ account, subject, atMs }) => [account, subject].includes(id) && atMs >= fromMs && atMs < toMs)
      .map(({ label, durations }) => {
        const histogram: Histogram = new Map();
        for (const ms of durations) addToBin(histogram, binOf(ms), 1);
        return { figures: [[[label], [durations.length, 2 * durations.length], binsOf(histogram)]] };
      }),
  );

/** The same figures must be found in rows of every length, for the whole time and for one day of it. */
async function assertFound(all: readonly Counted[], ids: readonly string[]): Promise<void> {
  const day = [start + hours(24), start + hours(48)] as const;
  for (const id of ids)
    for (const period of periodMinutes)
      for (const [fromMs, toMs] of [[start, end], day] as const) {
        const rows = await statistics().read(id, { fromMs, toMs, period });
        assert.deepEqual(sumOf(rows), expectedOf(all, id, fromMs, toMs), `${id} by ${period} minutes`);
      }
}

const one: fc.Arbitrary<Counted> = fc.record({
  account: fc.constantFrom("account-1", "account-2"),
  subject: fc.constantFrom("subject-1", "subject-2"),
  atMs: fc.nat(72 * 60 - 1).map((minute) => start + minutes(minute)),
  label: fc.constantFrom("a", "b"),
  durations: fc.array(fc.nat(60_000), { minLength: 1, maxLength: 3 }),
});
type Turn = { readonly kind: "count"; readonly counted: Counted } | { readonly kind: "step" | "kill" | "later" };
const turn: fc.Arbitrary<Turn> = fc.oneof(
  { weight: 4, arbitrary: one.map((counted) => ({ kind: "count" as const, counted })) },
  { weight: 2, arbitrary: fc.constant({ kind: "step" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "kill" as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: "later" as const }) },
);

describe("figures that are folded and rolled up", () => {
  it("are found once at any moment, whenever they come or a step is cut off", async () => {
    const property = fc.asyncProperty(fc.array(turn, { minLength: 10, maxLength: 40 }), async (turns) => {
      for (const table of ["statistics", "fresh_statistics"])
        await pool.query(sql("", `delete from signalbox.${table}`));
      clock.set(new Date(start));
      const all: Counted[] = [];
      for (const next of turns) {
        if (next.kind === "count") {
          await count(next.counted);
          all.push(next.counted);
        } else if (next.kind === "later") clock.advance(hours(5));
        else if (next.kind === "step") await statistics().step();
        else {
          killNext = true;
          await statistics()
            .step()
            .catch(() => "killed");
          killNext = false;
        }
      }
      await assertFound(all, ["account-1", "subject-1", "subject-2"]);
    });
    await fc.assert(property, { numRuns: 12 });
  });

  it("end as one row of each length, late ones included", async () => {
    const counted1 = { account: "a", subject: "s", atMs: start, label: "x", durations: [5] };
    await count(counted1);
    clock.set(new Date(end));
    for (let level = 0; level < periodMinutes.length; level++) await statistics().step();
    const rolled = { rolled: true, count: 1 };
    const rows = periodMinutes.map((period) => ({ period, ...rolled }));
    assert.deepEqual((await pool.query(counted, ["s"])).rows, rows);
    await count(counted1);
    await statistics().step();
    assert.deepEqual((await pool.query(counted, ["s"])).rows, rows);
    for (const period of periodMinutes) {
      const found = await statistics().read("s", { fromMs: start, toMs: start + minutes(period), period });
      assert.deepEqual(sumOf(found), [["x", [2, 4], [[binOf(5), 2]]]]);
    }
  });

  it("are folded by any number of instances, one at a time", async () => {
    const all = Array.from({ length: 200 }, (_, index) => ({
      account: "a",
      subject: `s${index % 7}`,
      atMs: start + minutes(index % 50),
      label: "x",
      durations: [index % 9],
    }));
    await Promise.all(all.map((counted) => count(counted)));
    const foldAll = async () => {
      while ((await statistics().step()) === "again");
    };
    await Promise.all(Array.from({ length: 8 }, foldAll));
    await assertFound(all, ["a", "s0", "s6"]);
    assert.deepEqual((await pool.query(sql("", "select 1 from signalbox.fresh_statistics"))).rows, []);
  });
});

describe("figures of what is deleted", () => {
  it("count for the account alone, for good", async () => {
    const all = [{ account: "a", subject: "s", atMs: start, label: "x", durations: [5] }];
    await count(all[0] as Counted);
    await statistics().step();
    await count(all[0] as Counted);
    gone.add("s");
    while ((await statistics().remove("s")) === "again");
    await statistics().step();
    assert.deepEqual((await pool.query(counted, ["s"])).rows, []);
    assert.deepEqual(sumOf(await statistics().read("a", { fromMs: start, toMs: end, period: 1 })), [
      ["x", [2, 4], [[binOf(5), 2]]],
    ]);
  });

  it("of an account are removed with what is not folded yet", async () => {
    await count({ account: "a", subject: "s", atMs: start, label: "x", durations: [5] });
    await statistics().step();
    await count({ account: "a", subject: "s", atMs: start, label: "x", durations: [5] });
    while ((await statistics().remove("a")) === "again");
    await statistics().step();
    assert.deepEqual(await statistics().read("a", { fromMs: start, toMs: end, period: 1 }), []);
  });
});

it("counts in memory keep no label apart from an empty one", async () => {
  const memory = new CountedStatistics(pool, clock);
  const entry = { accountId: "acc_labels", subjectId: null, atMs: clock.nowMs(), counts: [1] };
  for (const label of [null, "", ""]) memory.count({ ...entry, labels: [label] });
  await memory.save();
  const range = { fromMs: start, toMs: end, period: 1 } as const;
  const figures = (await memory.stored.read("acc_labels", range)).flatMap((one) => one.figures);
  assert.deepEqual(
    figures.map(([labels, counts]) => [labels, counts]),
    [
      [[null], [1]],
      [[""], [2]],
    ],
  );
});
