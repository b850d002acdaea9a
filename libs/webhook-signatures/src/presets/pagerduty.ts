import type { Preset } from "./preset.ts";

export const pagerduty: Preset = {
  title: "PagerDuty",
  documentation: "https://developer.pagerduty.com/docs/verifying-webhook-signatures",
  scheme: "hmac",
  settings: {
    signatureHeader: "x-pagerduty-signature",
    // Several `v1=…` while PagerDuty's secret is being rotated, and no time.
    pairs: { timeKey: null, signatureKey: "v1", separator: "," },
    signedContent: "{body}",
    deliveryIdFrom: { pointer: "/event/id" },
    eventTypeFrom: { pointer: "/event/event_type" },
    forwardedHeaders: ["x-webhook-id", "x-webhook-subscription"],
  },
  secretFrom: "the answer that created the webhook subscription: `delivery_method.secret`",
  steps: [
    "In PagerDuty open Integrations → Generic Webhooks (v3) and choose New webhook.",
    "Enter the address of the source as webhook URL, choose the scope and the events.",
    "Copy the secret, which PagerDuty shows once, into the source, and send a test event.",
  ],
  notes: [],
  vector: {
    from: "the tests of PagerDuty's own library, `go-pagerduty`",
    secret: "lDQHScfUeXUKaQRNF+8XIiDKZ7XX3itBAYzwU0TARw8lJqRnkKl2iB1anSb0Z+IK",
    headers: { "x-pagerduty-signature": "v1=0c0b9495b893a39e70d1fea2fe11fbe0a825f88b9f67846f6cc07dd2bc5476cd" },
    body: '{"event":{"id":"01BWDWL3NYY7LUFPZCC28QUCMK","event_type":"incident.priority_updated","resource_type":"incident","occurred_at":"2021-04-26T17:36:27.458Z","agent":{"html_url":"https://acme.pagerduty.com/users/PLH1HKV","id":"PLH1HKV","self":"https://api.pagerduty.com/users/PLH1HKV","summary":"Tenex Engineer","type":"user_reference"},"client":null,"data":{"id":"PGR0VU2","type":"incident","self":"https://api.pagerduty.com/incidents/PGR0VU2","html_url":"https://acme.pagerduty.com/incidents/PGR0VU2","number":2,"status":"triggered","title":"A little bump in the road","service":{"html_url":"https://acme.pagerduty.com/services/PF9KMXH","id":"PF9KMXH","self":"https://api.pagerduty.com/services/PF9KMXH","summary":"API Service","type":"service_reference"},"assignees":[{"html_url":"https://acme.pagerduty.com/users/PTUXL6G","id":"PTUXL6G","self":"https://api.pagerduty.com/users/PTUXL6G","summary":"User 123","type":"user_reference"}],"escalation_policy":{"html_url":"https://acme.pagerduty.com/escalation_policies/PUS0KTE","id":"PUS0KTE","self":"https://api.pagerduty.com/escalation_policies/PUS0KTE","summary":"Default","type":"escalation_policy_reference"},"teams":[{"html_url":"https://acme.pagerduty.com/teams/PFCVPS0","id":"PFCVPS0","self":"https://api.pagerduty.com/teams/PFCVPS0","summary":"Engineering","type":"team_reference"}],"priority":{"html_url":"https://acme.pagerduty.com/account/incident_priorities","id":"PSO75BM","self":"https://api.pagerduty.com/priorities/PSO75BM","summary":"P1","type":"priority_reference"},"urgency":"high","conference_bridge":{"conference_number":1000,"conference_url":"https://example.com"},"resolve_reason":null}}}',
    atSeconds: 1619458587,
  },
};
