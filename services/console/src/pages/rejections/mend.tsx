import { ApiError, type WebhookRejection } from "@signalbox/client";
import { Link } from "@tanstack/react-router";
import { Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { Status } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { useChange } from "../../parts/use-change.ts";
import { api, useMay } from "../../session/api.ts";
import { OtherSecret } from "../source/source-secrets.tsx";
import { figureTexts, wordsOf } from "./reason-words.ts";

interface MendProps {
  readonly sourceId: string;
  readonly rejection: WebhookRejection;
}

/** Reasons that another secret ends. */
const ofSecret: ReadonlySet<string> = new Set([
  "signature_mismatch",
  "signature_malformed",
  "secret_unusable",
  "token_mismatch",
  "token_malformed",
  "key_unknown",
  "keys_unreachable",
]);

/** The reason of a refusal in words and figures, and what ends it, where the person stands. */
export function Mend({ sourceId, rejection }: MendProps) {
  const mayWrite = useMay("webhooks:write");
  const { what, mend } = wordsOf(rejection.reason);
  const isMended = rejection.received_id !== null;
  return (
    <Panel title={what}>
      {isMended ? (
        <p>
          <Status tone="good">received later</Status> It was retried and{" "}
          <Link
            to="/webhooks/sources/$id/received/$ref"
            params={{ id: sourceId, ref: rejection.received_id as string }}
          >
            received
          </Link>
          .
        </p>
      ) : (
        <>
          <ul>
            {figureTexts(rejection).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
          <p>
            <strong>What to do:</strong> {mend}
          </p>
          {mayWrite && ofSecret.has(rejection.reason) && <OtherSecret sourceId={sourceId} />}
          {mayWrite && <TryAgain sourceId={sourceId} rejection={rejection} />}
        </>
      )}
    </Panel>
  );
}

/** Verifies the kept webhook again, with the secrets and settings of now. */
function TryAgain({ sourceId, rejection: { id, kept } }: MendProps) {
  const trying = useChange(() => api.webhooks.retryRejection(sourceId, id));
  if (!kept)
    return (
      <p className={parts.quiet}>
        It was not stored, so it cannot be retried here: have the sender send it again once this is fixed.
      </p>
    );
  return (
    <>
      {trying.error && <RefusedAgain error={trying.error} />}
      {trying.data?.outcome === "repeated" && (
        <p role="status">
          <Status tone="good">already received</Status> The sender has sent it again since, or it was retried before.
        </p>
      )}
      <div className={parts.row}>
        <Button label="Retry" className="main" change={trying} />
        <span className={parts.quiet}>
          It is verified with the current secrets and settings. If it passes, it is received once.
        </span>
      </div>
    </>
  );
}

/** A retry that is refused for the webhook's own sake is no conflict of two people. */
function RefusedAgain({ error }: { readonly error: Error }) {
  if (!(error instanceof ApiError && error.status === 409)) return <Failure error={error} what="rejection" />;
  return (
    <p role="alert" className={`${parts.notice} ${parts.bad}`}>
      {error.message}
    </p>
  );
}
