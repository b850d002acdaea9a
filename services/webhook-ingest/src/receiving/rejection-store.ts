import { type ListRange, newestFirst, type Pool, rangeValues, sql, table } from "@signalbox/storage";
import type { Rejection } from "./delivery.ts";

const rejections = table("rejections", {
  id: "text",
  sourceId: "text",
  reason: "text",
  status: "int4",
  bodyBytes: "int4",
  address: "text",
  rejectedAt: "timestamptz",
});
const insert = sql(
  "rejection.insert",
  // Each one pushes out the one that is too old, so the bound holds at every moment and not only after a clean-up.
  `with gone as (
     delete from rejections where source_id = $2 and (rejected_at, id) <= (
       select rejected_at, id from rejections where source_id = $2 order by rejected_at desc, id desc offset $8 - 1 limit 1))
   insert into rejections (id, source_id, reason, status, body_bytes, address, rejected_at)
   select $1, $2, $3, $4, $5, $6, $7 where exists (select from sources where id = $2)`,
);
const list = sql(
  "rejection.list",
  `select ${rejections.columns} from rejections where source_id = $1 and ${newestFirst(2, "rejected_at")}`,
);

/** What partners sent and was refused, in PostgreSQL. */
export function createRejectionStore(pool: Pool) {
  return {
    /** Writes the rejection; of its source only the newest `perSource` stay. */
    async insert(rejection: Rejection, perSource: number): Promise<void> {
      const { id, sourceId, reason, status, bodyBytes, address, rejectedAt } = rejection;
      await pool.query(insert, [id, sourceId, reason, status, bodyBytes, address, rejectedAt, perSource]);
    },
    list: async (sourceId: string, range: ListRange): Promise<Rejection[]> =>
      (await pool.query<Rejection>(list, [sourceId, ...rangeValues(range)])).rows,
  };
}

export type RejectionStore = ReturnType<typeof createRejectionStore>;
