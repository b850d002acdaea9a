import type { ManualClock } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually, type TestPerson } from "@signalbox/testing";
import { type Harness, sourcesPath } from "./harness.ts";

export interface TestSource {
  readonly id: string;
  readonly ingest_path: string;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of answers, as the sender of the tests has them.
type Body = any;

const dueSources = sql(
  "test.due-sources",
  `select min(due_at) filter (where run_id is not null) as "dueAt", bool_or(lease_id is not null) as "isHeld"
   from reconciliation_schedules`,
);

/** Read from the database: the rate of requests is limited by the clock. */
const statuses = sql(
  "test.run-statuses",
  "select status from reconciliations where source_id = $1 and trigger = $2 order by created_at desc",
);

/** The calls of an owner whose sources are compared with their senders' lists, and the end of their runs. */
export function comparedSources(ingest: Harness, clock: ManualClock | null = null) {
  const at = ({ id }: TestSource, path: string) => `${sourcesPath}/${id}${path}`;
  const read = async (who: TestPerson, path: string): Promise<Body> => (await ingest.send(who, "GET", path)).body;
  const runsOf = async (who: TestPerson, source: TestSource): Promise<Body[]> =>
    (await read(who, at(source, "/reconciliations"))).items;

  /** Moves the clock to the next step, as soon as no step runs: the requests alone take time. */
  async function goOn(): Promise<void> {
    const [due] = (await ingest.pool.query<{ dueAt: Date | null; isHeld: boolean }>(dueSources)).rows;
    if (clock && due?.dueAt && !due.isHeld && due.dueAt > clock.now()) clock.set(due.dueAt);
  }

  return {
    setKey: (who: TestPerson, source: TestSource, body: object) =>
      ingest.send(who, "PUT", at(source, "/sender-key"), { body }),
    reconcile: (who: TestPerson, source: TestSource, body: object = {}) =>
      ingest.send(who, "POST", at(source, "/reconcile"), { body }),
    keyOf: async (who: TestPerson, source: TestSource): Promise<Body> => (await read(who, at(source, ""))).sender_key,
    runsOf,
    receivedOf: async (who: TestPerson, source: TestSource, query = ""): Promise<Body[]> =>
      (await read(who, at(source, `/received?limit=100${query}`))).items,
    /** Waits for the end of the newest run of the source with this trigger, or of the oldest. */
    ended: (who: TestPerson, source: TestSource, trigger: string, which: "newest" | "oldest" = "newest") =>
      eventually(
        async (): Promise<Body> => {
          const place = which === "newest" ? 0 : -1;
          const { rows } = await ingest.pool.query<{ status: string }>(statuses, [source.id, trigger]);
          const status = rows.at(place)?.status;
          if (status !== undefined && status !== "running")
            return (await runsOf(who, source)).filter((run) => run.trigger === trigger).at(place);
          await goOn();
          return null;
        },
        { timeoutMs: 240_000, message: `a run by ${trigger} ends` },
      ),
  };
}
