import type { Caller } from "@signalbox/auth";
import { AppError, type Clock, type ErrorDetail, newId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { type Pool, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { Change } from "./override-store.ts";
import type { Overrides } from "./overrides.ts";
import type { ChangeSet, WantedChange } from "./plan-changes.ts";

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
  `select ${proposals.columns} from change_proposals order by created_at desc, id desc limit $1`,
);
const decide = proposals.update("state", "decidedBy", "decidedAt", "decisionReason", "revision");

/** Largest number of open proposals: beyond it some must be decided first. */
const openMax = 100;
const listedMax = 200;

interface Dependencies {
  readonly pool: Pool;
  readonly overrides: Overrides;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
}

type Action = `property.${"propose" | "approve" | "withdraw"}`;

export type Proposals = ReturnType<typeof createProposals>;

/** Changes of properties that one operator proposes and another one approves. */
export function createProposals({ pool, overrides, outbox, clock }: Dependencies) {
  /** Leaves an audit entry for each property. */
  async function record(tx: Tx, caller: Caller, action: Action, { changes, reason }: Proposal): Promise<void> {
    const entries = changes.map(({ name: subject }) => audited(caller, { action, subject, fields: ["value"], reason }));
    await outbox.append(tx, entries);
  }

  return {
    /** Lists the newest proposals, including decided ones. */
    list: async (): Promise<Proposal[]> => (await pool.query<Proposal>(listProposals, [listedMax])).rows,

    /** Validates changes without storing them. @throws AppError like a direct change, `conflict` at the bound of open ones */
    async check(tx: Tx, wanted: ChangeSet, refused: readonly ErrorDetail[] = []): Promise<void> {
      await overrides.check(tx, wanted, refused);
      await assertRoom(tx);
    },

    /** Stores changes for another operator's approval. They must have passed `check`. */
    async propose(tx: Tx, caller: Caller, wanted: ChangeSet): Promise<Proposal> {
      const changes = wanted.changes.map((change) => ({
        ...change,
        expectedRevision: String(change.expectedRevision),
      }));
      const { reason, expiresAt } = wanted;
      const undecided = {
        state: "open",
        decidedBy: null,
        decidedAt: null,
        decisionReason: null,
        revision: null,
      } as const;
      const author = caller.accountId;
      const made = { id: newId("chg"), changes, reason, author, createdAt: clock.now(), expiresAt, ...undecided };
      await proposals.insert(tx, made);
      await record(tx, caller, "property.propose", made);
      return made;
    },

    /** Makes another operator's changes, unless one of the properties changed meanwhile. */
    async approve(tx: Tx, caller: Caller, proposal: Proposal): Promise<{ proposal: Proposal; made: Change[] }> {
      assertMayApprove(caller, proposal);
      const made = await overrides.change(tx, caller, changesOf(proposal));
      const revision = made[0]?.revision ?? null;
      await record(tx, caller, "property.approve", proposal);
      return { made, proposal: await close(tx, caller, { ...proposal, state: "approved", revision }, clock.now()) };
    },

    /** Validates an approval without giving it. @throws AppError as `approve` */
    async checkApproval(tx: Tx, caller: Caller, proposal: Proposal): Promise<void> {
      assertMayApprove(caller, proposal);
      await overrides.check(tx, changesOf(proposal), []);
    },

    /** Withdraws a proposal, or rejects that of another operator. */
    async withdraw(tx: Tx, caller: Caller, proposal: Proposal, reason: string | null): Promise<Proposal> {
      assertOpen(proposal);
      await record(tx, caller, "property.withdraw", { ...proposal, reason });
      return close(tx, caller, { ...proposal, state: "withdrawn", decisionReason: reason }, clock.now());
    },

    /** Finds a proposal and locks it. */
    lock: async (tx: Tx, id: string): Promise<Proposal | null> =>
      (await tx.query<Proposal>(lockProposal, [id])).rows[0] ?? null,
  };
}

/** Records the outcome of a proposal and its decider. */
async function close(tx: Tx, caller: Caller, proposal: Proposal, now: Date): Promise<Proposal> {
  const decided = { ...proposal, decidedBy: caller.accountId, decidedAt: now };
  await decide(tx, decided);
  return decided;
}

/** Builds the change set of a stored proposal; its faults name the proposal. */
function changesOf({ changes, reason, expiresAt }: Proposal): ChangeSet {
  const wanted = changes.map((each) => ({ ...each, expectedRevision: BigInt(each.expectedRevision) }));
  return { changes: wanted, reason, expiresAt, fieldOf: () => "id" };
}

function assertMayApprove({ accountId }: Caller, proposal: Proposal): void {
  assertOpen(proposal);
  if (proposal.author !== accountId) return;
  throw new AppError("forbidden", "The author of a proposal cannot approve it; another operator must.");
}

async function assertRoom(tx: Tx): Promise<void> {
  const open = (await tx.query<{ count: number }>(countOpen)).rows[0]?.count ?? 0;
  if (open >= openMax) throw new AppError("conflict", `There are ${openMax} open proposals. Decide some first.`);
}

function assertOpen({ state }: Proposal): void {
  if (state !== "open") throw new AppError("conflict", `The proposal was already ${state}.`);
}
