import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Status, Time } from "../../parts/inline.tsx";
import { choice, Filters, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { Listing } from "../../parts/resource-list.tsx";
import { configStatusQuery } from "../configuration.ts";
import { FlagLink } from "../links.tsx";
import { type Flag, flagsQuery } from "./flag.ts";

/** The feature flags: state, who gets what, owner and end. */
export function FlagsPage() {
  const [search] = useFilters();
  const flags = useQuery({ ...flagsQuery, select: (items) => items.filter((flag) => fits(flag, search)) });
  const stale = new Set(useQuery(configStatusQuery).data?.stale_flags);
  return (
    <Page
      title="Flags"
      actions={
        <Link to="/flags/$key" params={{ key: "new" }} className="main">
          Add a flag
        </Link>
      }
    >
      <Filters
        fields={{ text: "Key or owner", state: choice("State", ["enabled", "preview", "deprecated", "disabled"]) }}
      />
      <Listing
        query={flags}
        what="flags"
        empty={
          Object.keys(search).length > 0
            ? "No flag matches these filters."
            : "There is no flag yet. A flag gives each account one of its variants."
        }
        label="Flags"
        keyOf={({ key }) => key}
        columns={{
          Flag: ({ key, description }) => (
            <>
              <FlagLink id={key}>{key}</FlagLink>
              <div className={parts.quiet}>{description}</div>
            </>
          ),
          State: ({ state }) => <Status>{state}</Status>,
          Gives: (flag) => givesText(flag),
          Owner: ({ owner }) => owner,
          "Review by": ({ key, expires }) =>
            stale.has(key) ? <Status tone="failed">{`${expires}, due`}</Status> : (expires ?? "–"),
          Changed: ({ changedAt }) => <Time at={changedAt} />,
        }}
      />
    </Page>
  );
}

const fits = (
  { key, owner, state }: Flag,
  { text = "", state: wanted }: Readonly<Record<string, string | undefined>>,
) => (!wanted || state === wanted) && `${key} ${owner}`.toLowerCase().includes(text.toLowerCase());

/** Says in a few words who gets which variant. */
export function givesText(flag: Flag): string {
  if (flag.state === "disabled") return `${flag.off} to everybody`;
  const rules = flag.rules.map(
    ({ variant, percentage, name }) =>
      `${variant} to ${typeof percentage === "number" ? `${percentage} %` : (name ?? "accounts of a rule")}`,
  );
  const rest = flag.state === "preview" ? flag.off : flag.default;
  return [...rules, `${rest} to ${rules.length === 0 ? "everybody" : "the rest"}`].join(", ");
}
