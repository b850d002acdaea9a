import type { Caller } from "@signalbox/auth";
import { newId } from "@signalbox/core";
import { connectionField, field, mutation, type Resolvers, type SubgraphContext } from "@signalbox/http";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";
import { succeeded } from "./change-results.ts";
import { lockOverrides, type Override } from "./override-store.ts";
import { changeOverrides, type Judging } from "./overrides.ts";
import { type ChangeSet, expiryRefusals } from "./plan-changes.ts";
import { answerOf, changeSetOf, dryRun, operators, ProposeChange, sentence, waitForMs } from "./property-fields.ts";
import {
  countOpenProposals,
  decideProposal,
  findProposal,
  insertProposal,
  listProposals,
  lockProposal,
  type Proposal,
  type ProposalFilter,
} from "./proposal-store.ts";

/** Largest number of open proposals: beyond it some must be decided first. */
const openMax = 100;

const undecided = { state: "open", decidedBy: null, decidedAt: null, decisionReason: null, revision: null } as const;

/** Stores changes for another operator's approval; with `dryRun` only validates them. @throws AppError like a direct change */
async function proposeChanges(
  service: ConfigService,
  tx: Tx,
  caller: Caller,
  wanted: ChangeSet,
  { refused, dryRun }: Judging,
) {
  const judged = await changeOverrides(service, tx, caller, wanted, { refused, dryRun: true });
  if ("outcome" in judged) return judged;
  if ((await countOpenProposals(tx)) >= openMax) return { outcome: "too-many-proposals", max: openMax } as const;
  if (dryRun) return null;
  const changes = wanted.changes.map((change) => ({ ...change, expectedRevision: String(change.expectedRevision) }));
  const { reason, expiresAt } = wanted;
  const { accountId: author } = caller;
  const made = { id: newId("chg"), changes, reason, author, createdAt: service.clock.now(), expiresAt, ...undecided };
  await insertProposal(tx, made);
  await recordDecision(service, tx, caller, "property.propose", made);
  return made;
}

/** Makes another operator's changes, unless one of the properties changed meanwhile; with `dryRun` only validates. */
async function approveProposal(service: ConfigService, tx: Tx, caller: Caller, proposal: Proposal, dryRun: boolean) {
  if (proposal.state !== "open") return { outcome: "decided", state: proposal.state } as const;
  if (proposal.author === caller.accountId) return { outcome: "own-proposal" } as const;
  const inForce = await lockOverrides(tx);
  const made = await changeOverrides(service, tx, caller, changesOf(proposal), { refused: [], dryRun });
  if ("outcome" in made) return made;
  if (dryRun) return { proposal, made };
  const revision = made[0]?.revision ?? null;
  await recordDecision(service, tx, caller, "property.approve", proposal);
  const approved = decided({ ...proposal, state: "approved", revision }, caller, inForce, service.clock.now());
  await decideProposal(tx, approved);
  return { made, proposal: approved };
}

/** Withdraws a proposal, or rejects that of another operator. */
async function withdrawProposal(
  service: ConfigService,
  tx: Tx,
  caller: Caller,
  proposal: Proposal,
  reason: string | null,
) {
  if (proposal.state !== "open") return { outcome: "decided", state: proposal.state } as const;
  await recordDecision(service, tx, caller, "property.withdraw", { ...proposal, reason });
  const inForce = await lockOverrides(tx);
  const closed = { ...proposal, state: "withdrawn", decisionReason: reason } as const;
  const withdrawn = decided(closed, caller, inForce, service.clock.now());
  await decideProposal(tx, withdrawn);
  return withdrawn;
}

/** Leaves an audit entry for each property. */
async function recordDecision(
  { outbox }: ConfigService,
  tx: Tx,
  caller: Caller,
  action: `property.${"propose" | "approve" | "withdraw"}`,
  { changes, reason }: Proposal,
): Promise<void> {
  const entries = changes.map(({ name: subject }) => audited(caller, { action, subject, fields: ["value"], reason }));
  await outbox.append(tx, entries);
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

/** Length of the list that clients of earlier versions ask for, which has no pages. */
const listedMax = 200;

const id = z.string().max(100);
const ApproveChange = z.strictObject({ id, wait_for_ms: waitForMs, dry_run: dryRun });
const WithdrawChange = z.strictObject({
  id,
  reason: sentence
    .nullable()
    .default(null)
    .describe("The reason for a rejection by another operator, shown to the author."),
});

/** The proposals of changes, and the decisions about them. */
export function proposalFields(service: ConfigService): Resolvers {
  const shown = { ...operators, payload: "proposal" } as const;
  return {
    Query: reads(service),
    Mutation: {
      proposeChange: mutation({ ...shown, audit: "property.propose", input: ProposeChange }, (input, context) => {
        const wanted = changeSetOf(input);
        const refused = expiryRefusals(service, wanted);
        return context.inTransaction(async (tx) => {
          const how = { refused, dryRun: input.dry_run };
          const made = await succeeded(proposeChanges(service, tx, context.caller, wanted, how));
          return made && viewProposal(service, made);
        });
      }),
      approveChange: mutation(
        {
          ...operators,
          audit: ["property.approve", "property.set", "property.unset"],
          input: ApproveChange,
          payload: (decided: object | null) => decided ?? { proposal: null, results: [] },
        },
        async ({ id, wait_for_ms: waitMs, dry_run: dryRun }, context) => {
          const { proposal, made } = await decide(context, id, (tx, open) =>
            approveProposal(service, tx, context.caller, open, dryRun),
          );
          const { results: changeResults } = await answerOf(service, made, made, waitMs);
          return { proposal: viewProposal(service, proposal), results: changeResults };
        },
      ),
      withdrawChange: mutation(
        { ...shown, audit: "property.withdraw", input: WithdrawChange },
        async ({ id, reason }, context) => {
          const withdrawn = await decide(context, id, (tx, open) =>
            withdrawProposal(service, tx, context.caller, open, reason),
          );
          return viewProposal(service, withdrawn);
        },
      ),
    },
  };
}

const reads = (service: ConfigService) => ({
  proposals: connectionField<unknown, ProposalFilter, Proposal>(
    { scopes: ["config:admin"] },
    {
      limits: service.pageLimits,
      read: (range, _parent, _context, filter) => listProposals(service.pool, filter, range),
      node: (proposal) => viewProposal(service, proposal),
    },
  ),
  changeProposal: field<unknown, { readonly id: string }>({ scopes: ["config:admin"] }, async (_parent, { id }) => {
    const proposal = await findProposal(service.pool, id);
    return proposal && viewProposal(service, proposal);
  }),
  changeProposals: field({ scopes: ["config:admin"] }, async () => {
    const newest = await listProposals(service.pool, {}, { after: null, limit: listedMax });
    return newest.map((proposal) => viewProposal(service, proposal));
  }),
});

function decide<Result>(context: SubgraphContext, id: string, change: (tx: Tx, proposal: Proposal) => Promise<Result>) {
  return context.write({
    missing: "There is no such proposal.",
    find: (tx) => lockProposal(tx, id),
    change: (tx, proposal: Proposal) => succeeded(change(tx, proposal)),
  });
}

function viewProposal({ catalogue }: ConfigService, proposal: Proposal) {
  const changes = proposal.changes.map(({ name, set, value, expectedRevision, before }) => ({
    name,
    unset: !set,
    expectedRevision,
    ...catalogue.shown(name, value, set),
    before: before ? { set: before.set, ...catalogue.shown(name, before.value, before.set) } : null,
  }));
  return { ...proposal, changes, revision: proposal.revision === null ? null : String(proposal.revision) };
}
