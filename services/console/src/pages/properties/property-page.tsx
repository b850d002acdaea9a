import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { instanceName, Status, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { durationText } from "../../parts/time-text.ts";
import { useMay } from "../../session/api.ts";
import { configStatusQuery, type Property, propertiesQuery, useNeedsApproval, valueText } from "../configuration.ts";
import { ProposalLink } from "../links.tsx";
import { ChangeProperty } from "./change-property.tsx";
import { PropertyHistory } from "./property-history.tsx";
import { boundsText } from "./property-value.ts";
import { readProposals } from "./proposal.ts";

/** One property: the value that runs with its source, what it does, every instance, its history, and a change. */
export function PropertyPage() {
  const { name } = useParams({ from: "/properties/$name" });
  const properties = useQuery({
    ...propertiesQuery,
    select: (items) => items.find((property) => property.name === name) ?? null,
  });
  const isOperator = useMay("config:admin");
  return (
    <OnePage
      title={name}
      actions={<Link to="/properties">All properties</Link>}
      query={properties}
      what="property"
      empty="There is no property of this name, or your permissions do not show it."
    >
      {(property) =>
        property && (
          <>
            <Facts property={property} />
            {isOperator && <OpenProposals property={property} />}
            {isOperator && property.overridable && <Change property={property} />}
            <Instances property={property} />
            {isOperator && <PropertyHistory property={property} />}
          </>
        )
      }
    </OnePage>
  );
}

const Change = ({ property }: { readonly property: Property }) => (
  <ChangeProperty property={property} isProposed={useNeedsApproval(property)} />
);

/** Leads to the open proposals that would change the property. */
function OpenProposals({ property: { name, services } }: { readonly property: Property }) {
  const names = [name, ...services.map((service) => `${service}.${name}`)];
  const { data = [] } = useQuery({
    queryKey: ["proposals", "open", name],
    refetchInterval: 10_000,
    queryFn: () => readProposals({ outcome: "open", text: name }),
    select: ({ items }) => items.filter(({ changes }) => changes.some((change) => names.includes(change.name))),
  });
  if (data.length === 0) return null;
  return (
    <div className={parts.notice}>
      {data.map(({ id, reason }) => (
        <p key={id}>
          <ProposalLink id={id}>A change is proposed</ProposalLink>: {reason ?? "without a reason"}
        </p>
      ))}
    </div>
  );
}

function Facts({ property }: { readonly property: Property }) {
  const { effect, source, reload, services, overrides, overridable, guarded, unit, secrecy } = property;
  return (
    <Panel title="Value">
      <Pairs
        items={[
          ["Current value", <code key="">{valueText(property)}</code>],
          ["Source", source ?? "not reported"],
          ["Effect", effect],
          ["Allowed values", boundsText(property, unit)],
          ["Applies", reload === "live" ? "at once" : "after a restart"],
          ["Services", services.join(", ")],
          ["Secrecy", secrecy],
        ]}
      />
      {!overridable && <p>It is set when the process starts and cannot be overridden.</p>}
      {guarded && <p>It is guarded: config.approval decides whether a change needs two operators.</p>}
      {overrides.length > 0 && (
        <Table
          label="Overrides"
          rows={overrides}
          keyOf={({ name }) => name}
          columns={{
            Override: ({ name }) => name,
            Value: (override) => <code>{valueText(override)}</code>,
            Reason: ({ reason }) => reason ?? "–",
            Since: ({ changedAt }) => <Time at={changedAt} />,
            Ends: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : "–"),
          }}
        />
      )}
    </Panel>
  );
}

/** The value in each instance, and how far the instance has followed. */
function Instances({ property: { instances } }: { readonly property: Property }) {
  const status = useQuery(configStatusQuery);
  const lagOf = new Map(status.data?.services.map(({ instance, lag_seconds }) => [instance, lag_seconds]));
  return (
    <Panel title="Instances">
      {instances.length === 0 ? (
        <p>No instance reports it now.</p>
      ) : (
        <Table
          label="Instances"
          rows={instances}
          keyOf={({ instance }) => instance}
          columns={{
            Instance: instanceName,
            Value: (instance) => <code>{valueText(instance)}</code>,
            Source: ({ source }) => source,
            "After a restart": ({ pending }) => (pending ? <code>{valueText(pending)}</code> : "the same"),
            Behind: ({ instance }) => <Lag seconds={lagOf.get(instance)} />,
          }}
        />
      )}
    </Panel>
  );
}

function Lag({ seconds }: { readonly seconds: number | undefined }) {
  if (seconds === undefined) return <span className={parts.quiet}>…</span>;
  return <Status tone={seconds === 0 ? "good" : "wait"}>{seconds === 0 ? "no" : durationText(seconds * 1_000)}</Status>;
}
