import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { Status, Time } from "../../parts/inline.tsx";
import { choice, Filters, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { Listing } from "../../parts/resource-list.tsx";
import { useMay } from "../../session/api.ts";
import { configStatusQuery, type Property, propertiesQuery, valueText } from "../configuration.ts";
import { PropertyLink } from "../links.tsx";

const services = ["account", "images", "image-worker", "config", "webhook-ingest", "webhook-delivery", "gateway"];

/** Every property of every service with the value that runs, and what overrides it. */
export function PropertiesPage() {
  const [search] = useFilters();
  const properties = useQuery({
    ...propertiesQuery,
    select: (items) => items.filter((property) => fits(property, search)),
  });
  const isOperator = useMay("config:admin");
  return (
    <Page title="Properties" actions={isOperator && <Link to="/proposals">Proposals</Link>}>
      <ConfigState />
      <Filters
        fields={{
          text: "Name or effect",
          service: choice("Service", services),
          overridden: choice("Overridden", ["true", "false"]),
        }}
      />
      <Listing
        query={properties}
        what="properties"
        empty="No property matches these filters."
        label="Properties"
        keyOf={({ name }) => name}
        columns={{
          Property: ({ name, effect }) => (
            <>
              <PropertyLink id={name}>{name}</PropertyLink>
              <div className={parts.quiet}>{effect}</div>
            </>
          ),
          Value: (property) => <code>{valueText(property)}</code>,
          Source: ({ source }) => source ?? "not reported",
          Applies: ({ reload }) => (reload === "live" ? "at once" : "after a restart"),
          Overridden: ({ overrides: [newest] }) => (newest ? <Time at={newest.changedAt} /> : "–"),
        }}
      />
    </Page>
  );
}

function fits(
  { name, effect, services, overrides }: Property,
  { text = "", service, overridden }: Readonly<Record<string, string | undefined>>,
) {
  if (service && !services.includes(service)) return false;
  if (overridden && overrides.length > 0 !== (overridden === "true")) return false;
  return `${name} ${effect}`.toLowerCase().includes(text.toLowerCase());
}

/** The revision that holds, the instances that are behind, and the values that were refused. */
function ConfigState() {
  const status = useQuery(configStatusQuery);
  return (
    <Answer query={status} what="state of the configuration">
      {({ revision, validation, services: instances, pending_restart }) => {
        const late = instances.filter(({ lag_seconds }) => lag_seconds > 0);
        return (
          <>
            <p className={parts.row}>
              <Status tone={validation.valid && late.length === 0 ? "good" : "wait"}>{`revision ${revision}`}</Status>
              {late.length === 0
                ? `All ${instances.length} instances run with it.`
                : `${late.length} of ${instances.length} instances are behind: ${late.map(({ name }) => name).join(", ")}.`}
              {pending_restart.length > 0 && ` Waiting for a restart: ${pending_restart.join(", ")}.`}
            </p>
            {validation.problems.map((problem) => (
              <p key={problem} role="alert" className={`${parts.notice} ${parts.bad}`}>
                {problem}
              </p>
            ))}
          </>
        );
      }}
    </Answer>
  );
}
