import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Action } from "../../parts/dialog.tsx";
import { Copy } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { Rotate } from "../../parts/rotate.tsx";
import { LiveSecrets } from "../../parts/secret.tsx";
import { api, dataOf, useIsPortal, useMay, versioned } from "../../session/api.ts";
import type { Endpoint } from "../webhooks.ts";

/** The secrets of an endpoint with their ends. Showing one and making another need a recent sign-in. */
export function Secrets({ endpoint: { id, secrets = [] } }: { readonly endpoint: Endpoint }) {
  // A person who may write gives a recent sign-in where one is needed; the holder of a link cannot.
  const needed = useIsPortal() ? "account:security" : "webhooks:write";
  const mayWrite = useMay(needed);
  const [shown, setShown] = useState<string | null>(null);
  const path = { id };
  const reveal = async () =>
    setShown((await dataOf(api.POST("/api/v1/webhooks/endpoints/{id}/secret/reveal", { params: { path } }))).secret);
  const hasPrevious = secrets.some(({ ends_at }) => ends_at !== null);
  return (
    <Panel
      title="Secrets"
      actions={
        mayWrite && (
          <>
            {shown === null ? (
              <Action label="Reveal" what="secret" run={reveal} />
            ) : (
              <Button label="Hide" onClick={() => setShown(null)} />
            )}
            <Rotate
              label="Rotate"
              what="secret"
              text="A new secret signs from now on. Until the overlap ends, deliveries carry the signatures of both, so your receiver can change in peace."
              rotate={(seconds) => rotate(id, seconds)}
              onDone={setShown}
            />
            {hasPrevious && (
              <Action
                label="End the previous secret"
                what="secret"
                kind="danger"
                confirm="Deliveries are signed with the newest secret alone from now on. A receiver that still has the previous one refuses them."
                run={() =>
                  versioned(api.DELETE("/api/v1/webhooks/endpoints/{id}/secret/previous", { params: { path } }))
                }
              />
            )}
          </>
        )
      }
    >
      {shown !== null && (
        <p className={parts.row} role="status">
          <code>{shown}</code> <Copy text={shown}>Copy the secret</Copy>
        </p>
      )}
      <LiveSecrets secrets={secrets} since="Created" />
    </Panel>
  );
}

const rotate = async (id: string, seconds: number | null) => {
  const params = { path: { id } };
  const body = { overlap_seconds: seconds ?? 0 };
  return (await dataOf(api.POST("/api/v1/webhooks/endpoints/{id}/secret/rotate", { params, body }))).secret;
};
