import { z } from "zod";
import { AuditEntryResource } from "../resources/audit-entry.ts";
import { identifier } from "../resources/fields.ts";
import { defineEvent } from "../topics/define-event.ts";

const { action, outcome, fields, reason, subject, actor, request_id } = AuditEntryResource.shape;

export const auditRecordedEvent = defineEvent({
  name: "audit.recorded",
  version: 1,
  topic: "signalbox.audit.v1",
  subject: "account id",
  audience: "internal",
  description:
    "An action on an account or its resources was performed or refused. The account service stores it in the account's audit log, with the id and the time of the event.",
  data: z.object({
    account_id: identifier("The account whose audit log has the entry"),
    action,
    outcome,
    fields,
    reason,
    subject,
    actor: actor.extend({ credential: z.string().describe("The id of the key, client or token; never its value.") }),
    request_id,
  }),
  example: {
    account_id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
    action: "webhook_endpoint.update",
    outcome: "done",
    fields: ["url"],
    reason: null,
    subject: "whe_7Qn2vLx0RbTf4HsYk8JmCw",
    actor: {
      kind: "owner",
      account_id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
      credential: "key_3Xk9mPv1QsWd6ZtBn5GhRy",
      address: "203.0.113.9",
    },
    request_id: "req_0197a1c27b307c119d8e2f1a5b6c7d8e",
  },
});
