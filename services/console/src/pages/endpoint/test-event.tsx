import { Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { Code } from "../../parts/code.tsx";
import { Status } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";
import { durationText } from "../../parts/time-text.ts";
import { useChange } from "../../parts/use-change.ts";
import { api, useIsPortal } from "../../session/api.ts";
import { WhyLink } from "../links.tsx";

/** Sends a test event now and shows the response of the receiver. */
export function TestEvent({ id }: { readonly id: string }) {
  const test = useChange(() => api.webhookEndpoints.test(id));
  const { data: attempt } = test;
  const isPortal = useIsPortal();
  const isGood = attempt?.decision === "succeeded" || (attempt?.status ?? 500) < 300;
  return (
    <Panel title="Test" actions={<Button label={test.isPending ? "Sending …" : "Send a test event"} change={test} />}>
      <p>Sends one signed attempt to this endpoint only, and does not retry it.</p>
      {test.error && <Failure error={test.error} what="test" />}
      {attempt && (
        <div role="status">
          <p>
            <Status tone={isGood ? "good" : "failed"}>{isGood ? "delivered" : "failed"}</Status>{" "}
            {attempt.status === null ? (attempt.error ?? "no response") : `HTTP ${attempt.status}`} after{" "}
            {durationText(attempt.duration_ms)}. {!isPortal && <WhyLink id={attempt.id} />}
          </p>
          {attempt.response && <Code text={attempt.response} label="response of the receiver" />}
        </div>
      )}
    </Panel>
  );
}
