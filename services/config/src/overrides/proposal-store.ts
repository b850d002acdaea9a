import {
  containing,
  type ListRange,
  newestFirst,
  type Pool,
  rangeValues,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { Change } from "./override-store.ts";
import type { WantedChange } from "./plan-changes.ts";

/** A set of changes that waits for a second operator. */
export interface Proposal {
  readonly id: string;
  readonly changes: readonly StoredChange[];
  readonly reason: string | null;
  readonly author: string;
  readonly createdAt: Date;
  /** Time at which the changes expire. */
  readonly expiresAt: Date | null;
  readonly state: "open" | "approved" | "withdrawn";
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  /** The reason of a withdrawal, which tells an author why another operator rejected the changes. */
  readonly decisionReason: string | null;
  /** The revision created by its approval. */
  readonly revision: bigint | null;
}

interface StoredChange extends Omit<WantedChange, "expectedRevision"> {
  readonly expectedRevision: string;
  /** The override that held at the decision. Missing while it is open, and for decisions of earlier versions. */
  readonly before?: Pick<Change, "set" | "value">;
}

export interface ProposalFilter {
  readonly outcome?: "open" | "approved" | "rejected" | "withdrawn" | null;
  /** A part of the reason or of the name of a property. */
  readonly text?: string | null;
}

const proposals = table("change_proposals", columns.change_proposals);
const lockProposal = sql(
  "proposals.lock",
  `select ${proposals.columns} from change_proposals where id = $1 for update`,
);
const countOpen = sql(
  "proposals.count-open",
  "select count(*)::int as count from change_proposals where state = 'open'",
);
const listProposals = sql(
  "proposals.list",
  `select ${proposals.columns} from change_proposals
   where ($1::text is null or case when state = 'withdrawn' and decided_by <> author then 'rejected' else state end = $1)
     and ($2::text is null or reason ilike $2
       or exists (select from jsonb_array_elements(changes) as change where change->>'name' ilike $2))
     and ${newestFirst(3)}`,
);
const findProposal = sql("proposals.find", `select ${proposals.columns} from change_proposals where id = $1`);
const decide = proposals.update("changes", "state", "decidedBy", "decidedAt", "decisionReason", "revision");

export type ProposalStore = ReturnType<typeof createProposalStore>;

/** The proposals in PostgreSQL. */
export const createProposalStore = (pool: Pool) => ({
  /** Lists proposals, newest first. A withdrawal by another operator than the author is a rejection. */
  async list({ outcome, text }: ProposalFilter, range: ListRange): Promise<Proposal[]> {
    const values = [outcome ?? null, text ? containing(text) : null, ...rangeValues(range)];
    return (await pool.query<Proposal>(listProposals, values)).rows;
  },

  find: async (id: string): Promise<Proposal | null> =>
    (await pool.query<Proposal>(findProposal, [id])).rows[0] ?? null,

  /** Finds a proposal and locks it. */
  lock: async (tx: Tx, id: string): Promise<Proposal | null> =>
    (await tx.query<Proposal>(lockProposal, [id])).rows[0] ?? null,

  countOpen: async (tx: Tx): Promise<number> => (await tx.query<{ count: number }>(countOpen)).rows[0]?.count ?? 0,

  insert: (tx: Tx, proposal: Proposal): Promise<void> => proposals.insert(tx, proposal),

  /** Writes the decision about a proposal. */
  decide: (tx: Tx, proposal: Proposal): Promise<unknown> => decide(tx, proposal),
});
