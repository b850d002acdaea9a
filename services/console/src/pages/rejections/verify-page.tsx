import type { WebhookExplanation } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { Form } from "../../parts/form.tsx";
import { Status } from "../../parts/inline.tsx";
import { Curl } from "../../parts/lists.tsx";
import { Page, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api } from "../../session/api.ts";
import { headersOfLines } from "../header-lines.ts";
import { SourceLink } from "../links.tsx";
import { sourceQuery } from "../sources.ts";
import { wordsOf } from "./reason-words.ts";

/** Explains a webhook that is pasted: the step that fails and what would make it verify. Nothing is received. */
export function VerifyPage() {
  const { id } = useParams({ from: "/webhooks/sources/$id/verify" });
  const source = useQuery(sourceQuery(id));
  return (
    <Page title="Verify a webhook">
      <Answer query={source} what="source">
        {({ data: { name } }) => (
          <>
            <p>
              Paste a webhook as the sender of <SourceLink id={id}>{name}</SourceLink> shows it, with its signature, to
              see which step fails. Nothing is received or stored.
            </p>
            <VerifyForm id={id} />
          </>
        )}
      </Answer>
    </Page>
  );
}

interface Pasted {
  readonly headers: string;
  readonly body: string;
  readonly receivedAt: string;
}

const VerifyForm = ({ id }: { readonly id: string }) => (
  <Form
    what="webhook"
    submitLabel="Verify"
    kind="main"
    className={parts.panel}
    initial={{ headers: "", body: "", receivedAt: "" }}
    fields={{
      headers: {
        label: "Headers",
        hint: "One per line, such as Content-Type: application/json.",
        rows: 8,
        required: true,
      },
      body: { label: "Body", hint: "Byte for byte: one extra space changes the signature.", rows: 8 },
      receivedAt: {
        label: "Arrival time",
        hint: "Empty: now. Signatures with a timestamp are valid for a few minutes.",
        type: "datetime-local",
      },
    }}
    run={(pasted) => api.webhooks.verify(id, bodyOf(pasted))}
    after={(pasted, explanation) => (
      <>
        <div role="status">{explanation && <Explained explanation={explanation} />}</div>
        <Curl method="POST" path={`api/v1/webhooks/sources/${id}/verify`} body={triedBody(pasted)} />
      </>
    )}
  />
);

function Explained({ explanation }: { readonly explanation: WebhookExplanation }) {
  const { outcome, reason, step, expected, hints, headers_read, delivery_id, event_type } = explanation;
  return (
    <Panel title={reason === null ? `It would be ${outcome}` : wordsOf(reason).what}>
      <p>
        <Status>{outcome}</Status> {reason !== null && wordsOf(reason).mend}
      </p>
      {hints.map((hint) => (
        <p key={hint}>
          <strong>{hint}</strong>
        </p>
      ))}
      <Pairs
        items={[
          step && ["Failed step", step],
          expected && ["Expected", expected],
          ["Headers read", headers_read.join(", ") || "none"],
          outcome === "accepted" && (["Sender's id", delivery_id ?? "none"] as const),
          ["Type", event_type ?? "none"],
        ]}
      />
    </Panel>
  );
}

/** @throws Error for headers that are none */
const bodyOf = ({ headers, body, receivedAt }: Pasted) => ({
  headers: headersOfLines(headers),
  body,
  ...(receivedAt !== "" && { received_at: new Date(receivedAt).toISOString() }),
});

function triedBody(pasted: Pasted): unknown {
  try {
    return bodyOf(pasted);
  } catch {
    return { headers: {}, body: pasted.body };
  }
}
