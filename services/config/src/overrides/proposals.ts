import type { Caller } from "@signalbox/auth";
import { type Clock, newId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { Override } from "./override-store.ts";
import type { Judging, Overrides } from "./overrides.ts";
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
    /** Stores changes for another operator's approval; with `dryRun` only validates them. @throws AppError like a direct change */
    async propose(tx: Tx, caller: Caller, wanted: ChangeSet, { refused, dryRun }: Judging) {
      const judged = await overrides.change(tx, caller, wanted, { refused, dryRun: true });
      if ("outcome" in judged) return judged;
      if ((await proposalStore.countOpen(tx)) >= openMax)
        return { outcome: "too-many-proposals", max: openMax } as const;
      if (dryRun) return null;
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

    /** Makes another operator's changes, unless one of the properties changed meanwhile; with `dryRun` only validates. */
    async approve(tx: Tx, caller: Caller, proposal: Proposal, dryRun: boolean) {
      if (proposal.state !== "open") return { outcome: "decided", state: proposal.state } as const;
      if (proposal.author === caller.accountId) return { outcome: "own-proposal" } as const;
      const inForce = await overrides.lockInForce(tx);
      const made = await overrides.change(tx, caller, changesOf(proposal), { refused: [], dryRun });
      if ("outcome" in made) return made;
      if (dryRun) return { proposal, made };
      const revision = made[0]?.revision ?? null;
      await record(tx, caller, "property.approve", proposal);
      const approved = decided({ ...proposal, state: "approved", revision }, caller, inForce, clock.now());
      await proposalStore.decide(tx, approved);
      return { made, proposal: approved };
    },

    /** Withdraws a proposal, or rejects that of another operator. */
    async withdraw(tx: Tx, caller: Caller, proposal: Proposal, reason: string | null) {
      if (proposal.state !== "open") return { outcome: "decided", state: proposal.state } as const;
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
