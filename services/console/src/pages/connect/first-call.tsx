import type { ReceivedWebhook } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { Status, Time } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { useReadAgain } from "../../parts/read-again.tsx";
import { api } from "../../session/api.ts";
import { SourceLink } from "../links.tsx";
import { Mend } from "../rejections/mend.tsx";
import type { Source } from "../sources.ts";

/** The newest call that was accepted and the newest that was not. */
async function readCalls(id: string) {
  const [received, rejected] = await Promise.all([
    api.receivedWebhooks.list(id, { limit: 1 }),
    api.rejectedWebhooks.list(id, { limit: 1 }),
  ]);
  return { received: received.items[0] ?? null, rejected: rejected.items[0] ?? null };
}

interface FirstCallProps {
  readonly source: Source;
  readonly sender: string;
  readonly number: number;
}

/** Waits for the sender's first call and shows it as it comes: accepted, or refused with what to mend. */
export function FirstCall({ source: { id, status }, sender, number }: FirstCallProps) {
  const { refetchInterval, control } = useReadAgain(2_000);
  const calls = useQuery({ queryKey: ["first-call", id], refetchInterval, queryFn: () => readCalls(id) });
  return (
    <>
      <Panel title={`${number}. First webhook`} actions={control}>
        <Answer query={calls} what="calls">
          {({ received, rejected }) => (
            <div role="status" className={parts.page}>
              {received ? (
                <Connected sourceId={id} webhook={received} sender={sender} />
              ) : (
                <p>
                  <Status tone={rejected ? "failed" : "wait"}>{rejected ? "rejected" : "waiting"}</Status>{" "}
                  {rejected
                    ? `${sender} sent a webhook, and it was refused. See below what to fix.`
                    : `Nothing received yet. Save the webhook at ${sender}; most senders send one at once, others have a test button.`}
                </p>
              )}
              {status !== "active" && <p>The source is {status}, so it accepts nothing.</p>}
            </div>
          )}
        </Answer>
      </Panel>
      {calls.data?.rejected && isNewest(calls.data) && <Mend sourceId={id} rejection={calls.data.rejected} />}
    </>
  );
}

/** A refusal from before the first accepted call is past. */
const isNewest = ({ received, rejected }: Awaited<ReturnType<typeof readCalls>>): boolean =>
  rejected !== null && rejected.received_id === null && (!received || rejected.rejected_at > received.received_at);

const Connected = ({
  sourceId: id,
  webhook: { id: ref, event_type, received_at, forwarded },
  sender,
}: {
  readonly sourceId: string;
  readonly webhook: ReceivedWebhook;
  readonly sender: string;
}) => (
  <>
    <p>
      <Status tone="good">accepted</Status> {sender} is connected.{" "}
      <code>{event_type ?? "A webhook without a type"}</code> was received <Time at={received_at} />
      {forwarded ? " and goes to your endpoints." : "."}
    </p>
    <p className={parts.row}>
      <Link to="/webhooks/sources/$id/received/$ref" params={{ id, ref }} className="main">
        View webhook
      </Link>
      <SourceLink id={id}>Go to the source</SourceLink>
    </p>
  </>
);
