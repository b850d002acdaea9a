import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Action } from "../../parts/dialog.tsx";
import { Form, FormAction } from "../../parts/form.tsx";
import { Status } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";
import { LiveSecrets } from "../../parts/secret.tsx";
import { api, useMay } from "../../session/api.ts";
import { type Source, sourceQuery } from "../sources.ts";

/** The secrets with which the sender signs, with their ends. The secrets themselves are never shown. */
export function SourceSecrets({ source: { id, secrets = [] } }: { readonly source: Source }) {
  const mayWrite = useMay("webhooks:write");
  const hasPrevious = secrets.some(({ ends_at }) => ends_at !== null);
  return (
    <Panel
      title="Secrets"
      actions={
        mayWrite && (
          <>
            <RotateSecret id={id} />
            {hasPrevious && (
              <Action
                label="Revoke the previous secret"
                what="secret"
                kind="danger"
                confirm="Webhooks signed with it are refused from now on. Check first that the sender uses the new one."
                run={() => api.webhookSources.deletePreviousSecrets(id)}
              />
            )}
          </>
        )
      }
    >
      <LiveSecrets secrets={secrets} since="Entered" />
    </Panel>
  );
}

const daySeconds = 86_400;

const nextSecret = { label: "Next secret", type: "password", required: true } as const;

const RotateSecret = ({ id }: { readonly id: string }) => (
  <FormAction
    label="Rotate"
    title="Enter the next secret"
    submitLabel="Save the secret"
    what="secret"
    initial={{ secret: "", overlap: String(daySeconds) }}
    fields={{
      secret: nextSecret,
      overlap: {
        label: "Current secret verifies for",
        choices: [
          ["0", "no time: it leaked or was wrong"],
          ["3600", "an hour"],
          [String(daySeconds), "a day"],
          [String(7 * daySeconds), "a week"],
        ],
      },
    }}
    run={({ secret, overlap }) =>
      api.webhookSources.rotateSecret(id, { secret: secret.trim(), overlap_seconds: Number(overlap) })
    }
  >
    <p>
      Enter the sender's next secret here first, then change it at the sender. Both verify until the overlap ends, so
      that no webhook is lost.
    </p>
  </FormAction>
);

/** Replaces the secret of the source: one that never verified anything needs no overlap. */
export function OtherSecret({ sourceId: id }: { readonly sourceId: string }) {
  const source = useQuery(sourceQuery(id));
  const [isSaved, setSaved] = useState(false);
  const hint = `For ${source.data?.data.name ?? "the source"}; it replaces the current one.`;
  return (
    <Form
      what="secret"
      submitLabel="Save the secret"
      beside={<span role="status">{isSaved && <Status tone="good">The secret was saved.</Status>}</span>}
      initial={{ secret: "" }}
      fields={{ secret: { ...nextSecret, label: "Secret of the sender", hint } }}
      run={(body) => api.webhookSources.update(id, body)}
      onDone={() => setSaved(true)}
    />
  );
}
