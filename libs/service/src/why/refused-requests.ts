import type { ServiceName } from "@signalbox/core";
import { hours, seconds } from "@signalbox/core";
import type { RefusedRequest } from "@signalbox/http";
import type { Runner } from "@signalbox/runtime";
import { type Pool, type RetentionRule, sql } from "@signalbox/storage";
import { stepsOf, type WhyFinder } from "./why-routes.ts";

const table = "signalbox.refused_request";

const insert = sql(
  "refused.insert",
  `insert into ${table} (account_id, request_id, credential, operation, status, code, refused_at, trace_id)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[], $7::timestamptz[], $8::text[])`,
);
const find = sql(
  "refused.find",
  `select credential, operation, status, code, refused_at as "refusedAt" from ${table}
   where account_id = $1 and (request_id = $2 or trace_id = $2) order by refused_at limit 20`,
);

interface RefusedRow extends Pick<RefusedRequest, "operation" | "status" | "code" | "refusedAt"> {
  readonly credential: string;
}

/** Deletes refused requests after a day. */
export const refusedRetention: RetentionRule = {
  name: "refused requests retention",
  table,
  column: "refused_at",
  keepMs: hours(24),
};

/** Kept in a second: of all, and of one account, so that a client in a loop leaves room for others. */
const bounds = { ofAll: 50, ofAccount: 5 } as const;

interface Dependencies {
  readonly service: ServiceName;
  readonly pool: Pool;
  readonly runner: Runner;
}

/**
 * Remembers refused calls of known accounts for a day, by the ids of their request and trace: the route, the status and the code, and
 * nothing that the caller sent. They are written together each second; those beyond the bounds are left out.
 */
export function createRefusedRequests({ service, pool, runner }: Dependencies) {
  let waiting: RefusedRequest[] = [];
  runner.every("refused requests", seconds(1), async () => {
    const rows = waiting;
    waiting = [];
    if (rows.length === 0) return;
    await pool.query(insert, [
      rows.map(({ caller }) => caller.accountId),
      rows.map(({ caller }) => caller.requestId),
      rows.map(({ caller }) => caller.credential.id),
      rows.map(({ operation }) => operation),
      rows.map(({ status }) => status),
      rows.map(({ code }) => code),
      rows.map(({ refusedAt }) => refusedAt),
      rows.map(({ traceId }) => traceId),
    ]);
  });

  return {
    note(refused: RefusedRequest): void {
      const ofAccount = waiting.filter(({ caller }) => caller.accountId === refused.caller.accountId);
      if (waiting.length < bounds.ofAll && ofAccount.length < bounds.ofAccount) waiting.push(refused);
    },

    /** Finds refused calls of the caller's account by the id of the request, or of its trace. */
    finder: {
      scopes: [],
      knows: () => true,
      async find({ accountId }, id) {
        const { rows } = await pool.query<RefusedRow>(find, [accountId, id]);
        if (rows.length === 0) return null;
        const step = stepsOf(service);
        const steps = rows.map(({ credential, operation, status, code, refusedAt }) =>
          step({
            at: refusedAt,
            id,
            what: `${operation} was refused with ${status}.`,
            verdict: "refused",
            reason: code,
            by: credential,
          }),
        );
        return { steps, next: [] };
      },
    } satisfies WhyFinder,
  };
}
