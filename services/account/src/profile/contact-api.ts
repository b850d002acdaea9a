import { AccountResource } from "@signalbox/contracts";
import { ok, type Refusal } from "@signalbox/http";
import { conflict, type Edges, edgesOf, operation } from "@signalbox/service";
import { z } from "zod";
import { etagOfAccount, viewAccount } from "../accounts/account.ts";
import { codeRefusals, codeSent, hintOf, SentCode, tooManyCodes, typedCodeField } from "../codes/code-answers.ts";
import { cancelContactChange, confirmContactByCode, resendContactCode } from "../contacts/contact-changes.ts";
import type { AccountService } from "../context/account-service.ts";
import { ownAccount } from "./account-api.ts";

const auth = { scopes: ["account:write"], access: "own-account:write", ownAccount: true } as const;

const Confirmation = z.strictObject({ code: typedCodeField });

const nothingPending: Refusal = { code: "conflict", message: "No contact address is pending." };

const takenMessage =
  "This address is the verified address of another account. Change or remove it there first, then ask for another code.";
export const addressTaken = conflict("contact_address", "address_taken", takenMessage);

/** The change of a contact address that is pending, at both edges. */
export function contactApi(service: AccountService): Edges {
  const of = ownAccount(service);
  const declarations = {
    confirmContactAddress: operation({
      summary: "Confirm the pending contact address",
      description:
        "With the code that was mailed to it, which works once, allows five tries and expires after one hour. A pending account becomes active. An address that another account has verified is 409, `address_taken`.",
      auth,
      audit: ["account.contact_confirm", "account.activate"],
      input: Confirmation,
      of,
      change: (tx, account, { caller, input }) => confirmContactByCode(service, tx, caller, account, input.code),
      refusals: { ...codeRefusals, "nothing-pending": nothingPending, taken: addressTaken },
      rest: {
        post: "/api/account/contact-change/confirm",
        responses: { 200: AccountResource },
        idempotent: true,
        answer: ({ account }) => ok(viewAccount(account), { etag: etagOfAccount(account) }),
      },
      graph: { payload: { account: ({ account }) => account } },
    }),
    resendContactCode: operation({
      summary: "Send another code to the pending contact address",
      description: "Ends the earlier codes. At most five an hour.",
      auth,
      // The account does not change.
      audit: { unaudited: "The change of the address already has an audit entry." },
      of,
      change: (tx, account) => resendContactCode(service, tx, account),
      refusals: { "nothing-pending": nothingPending, "too-many": tooManyCodes },
      rest: {
        post: "/api/account/contact-change/resend",
        responses: { 202: SentCode },
        idempotent: true,
        answer: codeSent,
      },
      graph: {
        payload: { sentCode: ({ address, expiresAt }) => ({ sentTo: hintOf(address), expiresAt }) },
        type: "SentCodePayload",
      },
    }),
    cancelContactChange: operation({
      summary: "Cancel the change of the contact address",
      description: "Drops the pending address. The one in use stays. Does nothing when no address is pending.",
      auth,
      audit: "account.contact_cancel",
      of: { ...of, etag: etagOfAccount },
      change: (tx, account, { caller }) => cancelContactChange(service, tx, caller, account),
      rest: { delete: "/api/account/contact-change/", responses: { 204: "empty" }, idempotent: true },
      graph: { payload: "account" },
    }),
  };
  return edgesOf(declarations, { errors: "account" });
}
