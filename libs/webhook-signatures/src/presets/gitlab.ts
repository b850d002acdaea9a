import type { Preset } from "./preset.ts";

export const gitlab: Preset = {
  title: "GitLab",
  documentation: "https://docs.gitlab.com/user/project/integrations/webhooks/",
  scheme: "token",
  settings: {
    tokenHeader: "x-gitlab-token",
    tokenFormat: "plain",
    deliveryIdFrom: { header: "idempotency-key" },
    eventTypeFrom: { header: "x-gitlab-event" },
    forwardedHeaders: ["x-gitlab-instance", "x-gitlab-webhook-uuid", "x-gitlab-event-uuid"],
  },
  secretFrom: "Settings → Webhooks → the webhook → Secret token, which you choose",
  steps: [
    "In the project or group open Settings → Webhooks and choose Add new webhook.",
    "Enter the address of the source as URL and the source's secret as secret token.",
    "Pick the triggers, save, and send a test.",
  ],
  notes: ["GitLab signs nothing: the token proves the sender, but not that the body is unchanged."],
  vector: {
    from: "GitLab's documentation: the header is the token",
    secret: "a token of sixteen bytes",
    headers: { "x-gitlab-token": "a token of sixteen bytes" },
    body: '{"object_kind":"push","event_name":"push"}',
    atSeconds: 1700000000,
  },
};
