import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Answer, Failure } from "../../parts/answer.tsx";
import { useChange } from "../../parts/dialog.tsx";
import { Status, type Tone } from "../../parts/inline.tsx";
import { Curl, Field } from "../../parts/lists.tsx";
import { Page, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, versioned } from "../../session/api.ts";
import { headersOfLines } from "../header-lines.ts";
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
              Paste a webhook as the sender of{" "}
              <Link to="/webhooks/sources/$id" params={{ id }}>
                {name}
              </Link>{" "}
              shows it, with its signature. You learn which step fails. Nothing is received, and nothing is kept.
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

function VerifyForm({ id }: { readonly id: string }) {
  const [pasted, setPasted] = useState<Pasted>({ headers: "", body: "", receivedAt: "" });
  const set = (changed: Partial<Pasted>) => setPasted({ ...pasted, ...changed });
  const explanation = useChange(async () => {
    const params = { path: { id } };
    return (await versioned(api.POST("/api/v1/webhooks/sources/{id}/verify", { params, body: bodyOf(pasted) }))).data;
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    explanation.mutate();
  };
  return (
    <>
      <form className={parts.panel} onSubmit={submit}>
        <div className={parts.sides}>
          <Field label="Headers" hint="One on each line, as Content-Type: application/json.">
            {(ids) => (
              <textarea
                {...ids}
                rows={8}
                required
                spellCheck={false}
                value={pasted.headers}
                onChange={({ target }) => set({ headers: target.value })}
              />
            )}
          </Field>
          <Field label="Body" hint="Byte for byte: a space more is another signature.">
            {(ids) => (
              <textarea
                {...ids}
                rows={8}
                spellCheck={false}
                value={pasted.body}
                onChange={({ target }) => set({ body: target.value })}
              />
            )}
          </Field>
        </div>
        <Field label="Time of its arrival" hint="Empty: now. Signatures with a time are good for some minutes.">
          {(ids) => (
            <input
              {...ids}
              type="datetime-local"
              value={pasted.receivedAt}
              onChange={({ target }) => set({ receivedAt: target.value })}
            />
          )}
        </Field>
        {explanation.error && <Failure error={explanation.error} what="webhook" />}
        <div>
          <button type="submit" className="main" disabled={explanation.isPending}>
            Verify
          </button>
        </div>
      </form>
      <div role="status">{explanation.data && <Explained explanation={explanation.data} />}</div>
      <Curl method="POST" path={`api/v1/webhooks/sources/${id}/verify`} body={triedBody(pasted)} />
    </>
  );
}

interface Explanation {
  readonly outcome: "accepted" | "challenged" | "dropped" | "refused";
  readonly reason: string | null;
  readonly step: string | null;
  readonly expected: string | null;
  readonly hints: readonly string[];
  readonly headers_read: readonly string[];
  readonly delivery_id: string | null;
  readonly event_type: string | null;
}

const tones: Readonly<Record<Explanation["outcome"], Tone>> = {
  accepted: "good",
  challenged: "good",
  dropped: "off",
  refused: "failed",
};

function Explained({ explanation }: { readonly explanation: Explanation }) {
  const { outcome, reason, step, expected, hints, headers_read, delivery_id, event_type } = explanation;
  return (
    <Panel title={reason === null ? `It would be ${outcome}` : wordsOf(reason).what}>
      <p>
        <Status tone={tones[outcome]}>{outcome}</Status> {reason !== null && wordsOf(reason).mend}
      </p>
      {hints.map((hint) => (
        <p key={hint}>
          <strong>{hint}</strong>
        </p>
      ))}
      <Pairs
        items={[
          ...(step ? [["Failed step", step] as const] : []),
          ...(expected ? [["Expected", expected] as const] : []),
          ["Headers read", headers_read.join(", ") || "none"],
          ...(outcome === "accepted"
            ? [["Sender's id", delivery_id ?? "none"] as const, ["Type", event_type ?? "none"] as const]
            : []),
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
