import type { Caller } from "@signalbox/auth";
import { AccountResource } from "@signalbox/contracts";
import { accepted, createRoutes, type HttpResponse, noContent, ok, type Refusal, refusedWith } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { etagOfAccount, viewAccount } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { codeRefused, SentCode, tooManyCodes, typedCodeField } from "../codes/code-answers.ts";
import type { ConfirmOutcome, ContactChanges, ResendOutcome } from "./contact-changes.ts";
import { hintOf } from "./contact-link.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "lock">;
  readonly contactChanges: Pick<ContactChanges, "confirm" | "resend" | "cancel">;
}

const auth = { scopes: ["account:write"], access: "own-account:write" } as const;
/** The account does not change. */
export const resendAudit = { unaudited: "The code goes to an address whose change has an entry." } as const;
/** The code from the mail. */
export const Confirmation = z.strictObject({ code: typedCodeField });

export const nothingPending: Refusal = { code: "conflict", message: "No contact address is pending." };

const takenMessage =
  "This address is the verified address of another account. Change or remove it there first, then ask for another code.";
const addressTaken: Refusal = {
  code: "conflict",
  message: takenMessage,
  details: [{ field: "contact_address", code: "address_taken", message: takenMessage }],
};

/** Maps an unsuccessful confirmation to its answer. */
export function confirmationRefused(outcome: Exclude<ConfirmOutcome["outcome"], "confirmed">): Refusal {
  switch (outcome) {
    case "nothing-pending":
      return nothingPending;
    case "taken":
      return addressTaken;
    default:
      return codeRefused(outcome);
  }
}

/** The change of a contact address that is pending. */
export function contactRoutes({ accounts, contactChanges }: Dependencies) {
  const routes = createRoutes({ errors: "account" });
  const find = (tx: Tx, { caller }: { readonly caller: Caller }) => accounts.lock(tx, caller.accountId);

  routes.post("/api/account/contact-change/confirm", {
    operationId: "confirmContactAddress",
    summary: "Confirm the pending contact address",
    description:
      "With the code that was mailed to it, which takes five tries, works once and expires after one hour. A pending account becomes active. An address that another account has verified is 409, `address_taken`.",
    auth,
    audit: ["account.contact_confirm", "account.activate"],
    body: Confirmation,
    responses: { 200: AccountResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    write: {
      find,
      change: (tx, account, { caller, body }) => contactChanges.confirm(tx, caller, account, body.code),
      answer: answerConfirmed,
    },
  });

  routes.post("/api/account/contact-change/resend", {
    operationId: "resendContactCode",
    summary: "Send another code to the pending contact address",
    description: "Ends the earlier codes. At most five an hour.",
    auth,
    audit: resendAudit,
    responses: { 202: SentCode, 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find,
      change: (tx, account) => contactChanges.resend(tx, account),
      answer: answerSent,
    },
  });

  routes.delete("/api/account/contact-change/", {
    operationId: "cancelContactChange",
    summary: "Cancel the change of the contact address",
    description: "Drops the pending address. The one in use stays. Does nothing when no address is pending.",
    auth,
    audit: "account.contact_cancel",
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    write: {
      find,
      etag: etagOfAccount,
      change: (tx, account, { caller }) => contactChanges.cancel(tx, caller, account),
      answer: () => noContent(),
    },
  });

  return routes;
}

function answerConfirmed(result: ConfirmOutcome): HttpResponse {
  if (result.outcome !== "confirmed") return refusedWith(confirmationRefused(result.outcome));
  return ok(viewAccount(result.account), { etag: etagOfAccount(result.account) });
}

function answerSent(result: ResendOutcome): HttpResponse {
  switch (result.outcome) {
    case "sent":
      return accepted({ sent_to: hintOf(result.address), expires_at: result.expiresAt.toISOString() });
    case "too-many":
      throw tooManyCodes();
    case "nothing-pending":
      return refusedWith(nothingPending);
  }
}
