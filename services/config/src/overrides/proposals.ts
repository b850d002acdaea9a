import type { Caller } from "@signalbox/auth";
import { AppError, type Clock, type ErrorDetail, newId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { Change, Override } from "./override-store.ts";
import type { Overrides } from "./overrides.ts";
import type { ChangeSet } from "./plan-changes.ts";
import type { Proposal, ProposalStore } from "./proposal-store.ts";

/** Largest number of open proposals: beyond it some must be decided first. */
const openMax = 100;

const undecided = { state: "open", decidedBy: null, decidedAt: null, decisionReason: null, revision: null } as const;

interface Dependencies {
  readonly proposalStore: ProposalStore;
  readonly overrides: Overrides;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
}

type Action = `property.${"propose" | "approve" | "withdraw"}`;

export type Proposals = ReturnType<typeof createProposals>;

/** Changes of properties that one operator proposes and another one approves. */
export function createProposals({ proposalStore, overrides, outbox, clock }: Dependencies) {
  /** Leaves an audit entry for each property. */
  async function record(tx: Tx, caller: Caller, action: Action, { changes, reason }: Proposal): Promise<void> {
    const entries = changes.map(({ name: subject }) => audited(caller, { action, subject, fields: ["value"], reason }));
    await outbox.append(tx, entries);
  }

  return {
    /** Validates changes without storing them. @throws AppError like a direct change, `conflict` at the bound of open ones */
    async check(tx: Tx, wanted: ChangeSet, refused: readonly ErrorDetail[] = []): Promise<void> {
      await overrides.check(tx, wanted, refused);
      if ((await proposalStore.countOpen(tx)) < openMax) return;
      throw new AppError("conflict", `There are ${openMax} open proposals. Decide some first.`);
    },

    /** Stores changes for another operator's approval. They must have passed `check`. */
    async propose(tx: Tx, caller: Caller, wanted: ChangeSet): Promise<Proposal> {
      const changes = wanted.changes.map((change) => ({
        ...change,
        expectedRevision: String(change.expectedRevision),
      }));
      const { reason, expiresAt } = wanted;
      const author = caller.accountId;
      const made = { id: newId("chg"), changes, reason, author, createdAt: clock.now(), expiresAt, ...undecided };
      await proposalStore.insert(tx, made);
      await record(tx, caller, "property.propose", made);
      return made;
    },

    /** Makes another operator's changes, unless one of the properties changed meanwhile. */
    async approve(tx: Tx, caller: Caller, proposal: Proposal): Promise<{ proposal: Proposal; made: Change[] }> {
      assertMayApprove(caller, proposal);
      const inForce = await overrides.lockInForce(tx);
      const made = await overrides.change(tx, caller, changesOf(proposal));
      const revision = made[0]?.revision ?? null;
      await record(tx, caller, "property.approve", proposal);
      const approved = decided({ ...proposal, state: "approved", revision }, caller, inForce, clock.now());
      await proposalStore.decide(tx, approved);
      return { made, proposal: approved };
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
      const inForce = await overrides.lockInForce(tx);
      const withdrawn = decided(
        { ...proposal, state: "withdrawn", decisionReason: reason },
        caller,
        inForce,
        clock.now(),
      );
      await proposalStore.decide(tx, withdrawn);
      return withdrawn;
    },
  };
}

/** Closes a proposal with its decider and the overrides that held. */
function decided(
  proposal: Proposal,
  { accountId }: Caller,
  inForce: ReadonlyMap<string, Override>,
  now: Date,
): Proposal {
  const changes = proposal.changes.map((change) => {
    const held = inForce.get(change.name);
    return { ...change, before: { set: held !== undefined, value: held?.value ?? null } };
  });
  return { ...proposal, changes, decidedBy: accountId, decidedAt: now };
}

/** Builds the change set of a stored proposal; its faults name the proposal. */
function changesOf({ changes, reason, expiresAt }: Proposal): ChangeSet {
  const wanted = changes.map(({ before: _, ...each }) => ({
    ...each,
    expectedRevision: BigInt(each.expectedRevision),
  }));
  return { changes: wanted, reason, expiresAt, fieldOf: () => "id" };
}

function assertMayApprove({ accountId }: Caller, proposal: Proposal): void {
  assertOpen(proposal);
  if (proposal.author !== accountId) return;
  throw new AppError("forbidden", "The author of a proposal cannot approve it; another operator must.");
}

function assertOpen({ state }: Proposal): void {
  if (state !== "open") throw new AppError("conflict", `The proposal was already ${state}.`);
}
