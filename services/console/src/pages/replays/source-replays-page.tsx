import { useParams } from "@tanstack/react-router";
import {
  bodyOfSpan,
  CountFirst,
  hoursAgo,
  hoursField,
  spanFields,
  useCountedReplay,
} from "../../parts/count-first.tsx";
import { Time } from "../../parts/inline.tsx";
import { Page } from "../../parts/page.tsx";
import { ReplaysSoFar } from "../../parts/replay-list.tsx";
import { api, useMay } from "../../session/api.ts";
import { RejectionsLink, SourceLink } from "../links.tsx";
import { reasonNames } from "../rejections/reason-words.ts";

/** Received webhooks that are published again, and a new replay of them. */
export function SourceReplaysPage() {
  const { id } = useParams({ from: "/webhooks/sources/$id/replays" });
  return (
    <Page title="Publish received webhooks again" actions={<SourceLink id={id}>The source</SourceLink>}>
      {useMay("webhooks:write") && <StartReplay id={id} />}
      <ReplaysSoFar
        path={`api/v1/webhooks/sources/${id}/replays`}
        read={(query) => api.receivedWebhookReplays.list(id, query)}
        empty="No replays yet. A replay publishes again what your endpoints lost."
        done={({ published, missing }) => published + missing}
        note={({ missing }) => missing > 0 && `, ${missing} past the retention`}
        of={({ ids, event_types, from, to }) =>
          ids === null ? (
            <>
              {event_types?.join(", ") ?? "every type"}, from <Time at={from} /> to <Time at={to} />
            </>
          ) : (
            `${ids.length} chosen`
          )
        }
        kept="Events already published stay published."
        cancel={(replay) => api.receivedWebhookReplays.cancel(id, replay.id)}
      />
    </Page>
  );
}

/** Starts a replay, which is counted first. */
function StartReplay({ id }: { readonly id: string }) {
  const replay = useCountedReplay({ hours: "24", types: "" }, (span, isDryRun) =>
    api.receivedWebhookReplays.create(id, { ...bodyOfSpan(span), rate: 100, dry_run: isDryRun }),
  );
  return (
    <CountFirst
      title="Publish again"
      lead="Your endpoints get these webhooks as new events, each with the id of the one it repeats."
      verb="Publish"
      replay={replay}
      fields={spanFields}
    />
  );
}

/** Kept rejections that are verified again, and a new retry of them. */
export function RejectionRetriesPage() {
  const { id } = useParams({ from: "/webhooks/sources/$id/rejection-retries" });
  return (
    <Page title="Verify rejected webhooks again" actions={<RejectionsLink id={id}>Rejected</RejectionsLink>}>
      {useMay("webhooks:write") && <StartRetry id={id} />}
      <ReplaysSoFar
        noun="retry"
        path={`api/v1/webhooks/sources/${id}/rejection-retries`}
        read={(query) => api.webhookRejectionRetries.list(id, query)}
        empty="No retries yet. A retry receives rejected webhooks once their cause is fixed."
        done={({ received, repeated, refused }) => received + repeated + refused}
        note={({ received, repeated, refused }) =>
          `: ${received} received, ${repeated} received before, ${refused} refused again`
        }
        of={({ reason, from, to }) => (
          <>
            {reason ?? "every reason"}, from <Time at={from} /> to <Time at={to} />
          </>
        )}
        kept="Webhooks already received stay received."
        cancel={(retry) => api.webhookRejectionRetries.cancel(id, retry.id)}
      />
    </Page>
  );
}

/** Starts a retry, which is counted first. */
function StartRetry({ id }: { readonly id: string }) {
  const retry = useCountedReplay({ hours: "24", reason: "" }, ({ hours, reason }, isDryRun) =>
    api.webhooks.retryRejections(id, { from: hoursAgo(hours), dry_run: isDryRun, ...(reason !== "" && { reason }) }),
  );
  return (
    <CountFirst
      title="Verify again"
      lead="Stored webhooks are verified with the current secrets and settings. Those that pass are received, in order."
      verb="Verify"
      replay={retry}
      fields={{ reason: { label: "Reason", choices: [["", "every reason"], ...reasonNames] }, hours: hoursField }}
    />
  );
}
