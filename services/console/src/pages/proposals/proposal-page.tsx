import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { copied, Status, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { useCredential } from "../../session/api.ts";
import { type Property, propertiesQuery, valueText } from "../configuration.ts";
import { PropertyLink } from "../links.tsx";
import { ChangeResults } from "../properties/change-results.tsx";
import type { ChangeResult } from "../properties/property-change.ts";
import { Actor, stateText } from "../properties/property-history.tsx";
import { outcomeOf, type Proposal, type ProposedChange, proposalQuery } from "../properties/proposal.ts";
import { ApproveProposal, CloseProposal } from "./decide-proposal.tsx";

/** One proposal: what would change, who wants it and why, and the decision of another operator. */
export function ProposalPage() {
  const { id } = useParams({ from: "/proposals/$id" });
  const [results, setResults] = useState<readonly ChangeResult[] | null>(null);
  const proposal = useQuery(proposalQuery(id));
  return (
    <OnePage
      title="Proposal"
      actions={
        <>
          {proposal.data?.state === "open" && <Decisions proposal={proposal.data} onApproved={setResults} />}
          <Link to="/proposals">All proposals</Link>
        </>
      }
      query={proposal}
      what="proposal"
      empty="There is no such proposal."
      lead={
        results && (
          <div className={parts.notice}>
            <ChangeResults results={results} />
          </div>
        )
      }
    >
      {(found) =>
        found && (
          <>
            <Facts proposal={found} />
            <Changes proposal={found} />
          </>
        )
      }
    </OnePage>
  );
}

interface DecisionsProps {
  readonly proposal: Proposal;
  readonly onApproved: (results: readonly ChangeResult[]) => void;
}

function Decisions({ proposal, onApproved }: DecisionsProps) {
  const { data: credential } = useCredential();
  if (!credential) return null;
  if (credential.account_id === proposal.author) return <CloseProposal id={proposal.id} kind="withdraw" />;
  return (
    <>
      <ApproveProposal id={proposal.id} onApproved={onApproved} />
      <CloseProposal id={proposal.id} kind="reject" />
    </>
  );
}

function Facts({ proposal }: { readonly proposal: Proposal }) {
  const { id, reason, author, createdAt, expiresAt, state, decidedBy, decidedAt, decisionReason, revision } = proposal;
  const outcome = outcomeOf(proposal);
  const isOwn = useCredential().data?.account_id === author;
  return (
    <Panel title="Details">
      {state === "open" && isOwn && <p>You proposed this, so another operator decides. You can withdraw it.</p>}
      <Pairs
        items={[
          ["State", <Status key="">{outcome}</Status>],
          ["Reason", reason ?? "–"],
          ["Proposed by", <Actor key="" id={author} />],
          ["Proposed", <Time key="" at={createdAt} />],
          ["Applies until", expiresAt ? <Time key="" at={expiresAt} /> : "it is changed again"],
          ...(decidedBy === null
            ? []
            : ([
                ["Decided by", <Actor key="" id={decidedBy} />],
                ["Decided", <Time key="" at={decidedAt} />],
                ["Decision reason", decisionReason ?? "–"],
                ["Revision", revision ?? "–"],
              ] as const)),
          ["Id", copied(id)],
        ]}
      />
    </Panel>
  );
}

/**
 * The changes, beside the values of now or, of a decided proposal, those at the decision. A property that was changed since
 * it was proposed keeps the proposal from approval.
 */
function Changes({ proposal: { changes, state } }: { readonly proposal: Proposal }) {
  const properties = useQuery(propertiesQuery);
  const propertyOf = ({ name }: ProposedChange) => properties.data?.find((one) => namesOf(one).includes(name));
  return (
    <Panel title="Changes">
      <Answer query={properties} what="properties">
        {() => (
          <Table
            label="Changes"
            rows={changes}
            keyOf={({ name }) => name}
            columns={{
              Property: (change) => <PropertyName change={change} property={propertyOf(change)} />,
              Now: state === "open" && ((change) => <code>{nowText(change, propertyOf(change))}</code>),
              Before:
                state !== "open" && (({ before }) => <code>{before === null ? "not stored" : stateText(before)}</code>),
              Proposed: (change: ProposedChange) => <code>{change.unset ? "not overridden" : valueText(change)}</code>,
              "Since then":
                state === "open" && ((change) => <Meanwhile change={change} property={propertyOf(change)} />),
            }}
          />
        )}
      </Answer>
    </Panel>
  );
}

const namesOf = ({ name, services }: Property): string[] => [name, ...services.map((service) => `${service}.${name}`)];

const overrideOf = ({ name }: ProposedChange, property: Property | undefined) =>
  property?.overrides.find((override) => override.name === name);

function nowText(change: ProposedChange, property: Property | undefined): string {
  const override = overrideOf(change, property);
  if (override) return valueText(override);
  return property ? `${valueText(property)} (${property.source ?? "not reported"})` : "not shown to you";
}

interface ChangeProps {
  readonly change: ProposedChange;
  /** Missing where the person does not see it. */
  readonly property: Property | undefined;
}

function PropertyName({ change: { name }, property }: ChangeProps) {
  if (!property) return <code>{name}</code>;
  return (
    <>
      <PropertyLink id={property.name}>{name}</PropertyLink>
      <div className={parts.quiet}>
        {property.effect}
        {property.unit && ` In ${property.unit}.`}
      </div>
    </>
  );
}

function Meanwhile({ change, property }: ChangeProps) {
  if (!property) return "–";
  if ((overrideOf(change, property)?.revision ?? "0") === change.expectedRevision)
    return <Status tone="good">unchanged</Status>;
  return (
    <>
      <Status tone="failed">changed</Status>
      <div className={parts.quiet}>It can no longer be approved. Propose it again.</div>
    </>
  );
}
