import type { WhyStep } from "@signalbox/client";
import { useNavigate, useParams } from "@tanstack/react-router";
import { Form } from "../../parts/form.tsx";
import { Id, Moment, Status } from "../../parts/inline.tsx";
import { Curl } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { PanelList } from "../../parts/resource-list.tsx";
import { api } from "../../session/api.ts";
import { DeliveryLink, SourceLink } from "../links.tsx";

const readSteps = async (id: string) => {
  const { items } = await api.why.get(id);
  return items.map((step, at) => ({ ...step, place: String(at), before: items[at - 1]?.at }));
};

/** Everything that happened to an id, oldest first. */
export function WhyPage() {
  const { id } = useParams({ strict: false });
  return (
    <Page title={id ? `Why ${id}` : "Why"}>
      <AskForm key={id} id={id ?? ""} />
      {id && <Chain id={id} />}
    </Page>
  );
}

function AskForm({ id }: { readonly id: string }) {
  const navigate = useNavigate();
  return (
    <Form
      what="id"
      submitLabel="Trace"
      kind="main"
      className={parts.panel}
      initial={{ id }}
      fields={{
        id: {
          label: "Any id",
          hint: "Of a delivery, an attempt, an event, an endpoint, an image, a key, a trace, or the X-Request-Id of a call.",
          required: true,
        },
      }}
      run={async (typed) => typed.id.trim()}
      onDone={(asked) => void navigate({ to: "/why/$id", params: { id: asked } })}
    />
  );
}

const Chain = ({ id }: { readonly id: string }) => (
  <PanelList
    title="Steps"
    what="id"
    queryKey={["why", id]}
    read={() => readSteps(id)}
    empty="Nothing found for this id."
    keyOf={({ place }) => place}
    columns={{
      Time: ({ at, before }) => (at ? <Moment at={at} after={before} /> : "now"),
      Verdict: ({ verdict }) => <Status>{verdict}</Status>,
      What: (step) => <What step={step} />,
      Reason: ({ reason }) => reason ?? "–",
      By: ({ by, service }) => by ?? service,
    }}
  >
    <Curl path={`api/v1/why/${encodeURIComponent(id)}`} />
  </PanelList>
);

const What = ({ step: { what, id } }: { readonly step: WhyStep }) => (
  <>
    {what}
    {id && <Id value={id} />}
    {id?.startsWith("whd_") && <DeliveryLink id={id}>open the delivery</DeliveryLink>}
    {id?.startsWith("src_") && <SourceLink id={id}>open the source</SourceLink>}
  </>
);
