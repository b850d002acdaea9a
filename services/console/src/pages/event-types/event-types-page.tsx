import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { Code } from "../../parts/code.tsx";
import { memberText } from "../../parts/indent-json.ts";
import { Filters, useFilters } from "../../parts/lists.tsx";
import { Page, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { ResourceList } from "../../parts/resource-list.tsx";
import { api, asText, useMay, withText } from "../../session/api.ts";
import { EventTypeLink } from "../links.tsx";

/** The types of events: those of the service and those of the account. One is shown with its schema and an example. */
export function EventTypesPage() {
  const [{ name }] = useFilters();
  return (
    <Page title="Event types">
      <Filters fields={{ name: "Name" }} />
      {name && <EventType name={name} />}
      <ResourceList
        label="Event types"
        noun="event type"
        path="api/v1/webhooks/event-types"
        read={(query) => api.webhookEventTypes.list(query)}
        pageSize={50}
        empty="No type is declared yet."
        keyOf={(type) => type.name}
        columns={{
          Type: ({ name }) => <EventTypeLink id={name}>{name}</EventTypeLink>,
          About: ({ description }) => description ?? "–",
          "Declared by": ({ own }) => (own ? "your account" : "Signalbox"),
          Schema: ({ schema, enforcement }) => (schema ? `yes, ${enforcement}` : "none"),
        }}
      />
    </Page>
  );
}

function EventType({ name }: { readonly name: string }) {
  const mayPublish = useMay("events:publish");
  const type = useQuery({
    queryKey: ["event-type", name],
    queryFn: () => withText(api.GET("/api/v1/webhooks/event-types/{name}", { params: { path: { name } }, ...asText })),
  });
  return (
    <Panel title={name}>
      <Answer query={type} what="event type">
        {({ data: { description, own, enforcement, enforcement_reason, schema, example }, text = "" }) => (
          <>
            {description && <p>{description}</p>}
            <Pairs
              items={[
                ["Declared by", own ? "your account" : "Signalbox"],
                ["Invalid events", `${enforcement}${enforcement_reason ? `: ${enforcement_reason}` : ""}`],
              ]}
            />
            <div className={parts.sides}>
              <div>
                <h3>Schema</h3>
                {schema ? (
                  <Code text={memberText(text, "schema") ?? ""} label="schema" />
                ) : (
                  <p>Any data is accepted.</p>
                )}
              </div>
              <div>
                <h3>Example</h3>
                {example === undefined ? (
                  <p>None.</p>
                ) : (
                  <Code text={memberText(text, "example") ?? ""} label="example" />
                )}
              </div>
            </div>
            {own && mayPublish && (
              <Link to="/webhooks/events" search={{ publish: name }}>
                Publish an event of this type
              </Link>
            )}
          </>
        )}
      </Answer>
    </Panel>
  );
}
