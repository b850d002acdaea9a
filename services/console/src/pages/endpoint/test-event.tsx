import { Link } from "@tanstack/react-router";
import { Failure } from "../../parts/answer.tsx";
import { useChange } from "../../parts/dialog.tsx";
import { Code, Status } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";
import { durationText } from "../../parts/time-text.ts";
import { api, useIsPortal, versioned } from "../../session/api.ts";

/** Sends a test event now and shows the answer of the receiver. */
export function TestEvent({ id }: { readonly id: string }) {
  const test = useChange(
    async () => (await versioned(api.POST("/api/v1/webhooks/endpoints/{id}/test", { params: { path: { id } } }))).data,
  );
  const { data: attempt } = test;
  const isPortal = useIsPortal();
  const isGood = attempt?.decision === "succeeded" || (attempt?.status ?? 500) < 300;
  return (
    <Panel
      title="Test"
      actions={
        <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>
          {test.isPending ? "Sending …" : "Send a test event"}
        </button>
      }
    >
      <p>One attempt, signed like any other, to this endpoint alone. It is tried once.</p>
      {test.error && <Failure error={test.error} what="test" />}
      {attempt && (
        <div role="status">
          <p>
            <Status tone={isGood ? "good" : "failed"}>{isGood ? "delivered" : "failed"}</Status>{" "}
            {attempt.status === null ? (attempt.error ?? "no answer came") : `HTTP ${attempt.status}`} after{" "}
            {durationText(attempt.duration_ms)}.{" "}
            {!isPortal && (
              <Link to="/why/$id" params={{ id: attempt.id }}>
                Why?
              </Link>
            )}
          </p>
          {attempt.response && <Code text={attempt.response} label="answer of the receiver" />}
        </div>
      )}
    </Panel>
  );
}
