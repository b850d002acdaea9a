import { AccountResource } from "@signalbox/contracts";
import { accepted, createRoutes, ifMatch, noContent, ok, refused } from "@signalbox/http";
import { z } from "zod";
import { type Account, viewAccount } from "../accounts/account.ts";
import { etagOfAccount } from "../accounts/account-routes.ts";
import { actorOf } from "../audit/actor.ts";
import { codeRefused, typedCodeField } from "../codes/code-refused.ts";
import { SentCode } from "../codes/sent-code.ts";
import { tooManyCodes } from "../codes/too-many-codes.ts";
import type { CancelContactChangeVerb } from "./cancel-contact-change.ts";
import type { ConfirmContactVerb } from "./confirm-contact.ts";
import { hintOf } from "./contact-link.ts";
import type { ResendContactCodeVerb, SentContactCode } from "./resend-contact-code.ts";

interface Dependencies {
  readonly confirmContact: ConfirmContactVerb;
  readonly resendContactCode: ResendContactCodeVerb;
  readonly cancelContactChange: CancelContactChangeVerb;
}

const auth = { scopes: ["account:write"], access: "own-account:write" } as const;
/** What whoever read the mail sends back. */
export const Confirmation = z.strictObject({ code: typedCodeField });

/** What becomes of a new contact address that waits to be confirmed. */
export function contactRoutes({ confirmContact, resendContactCode, cancelContactChange }: Dependencies) {
  const routes = createRoutes({ errors: "account" });

  routes.post("/api/account/contact-change/confirm", {
    summary: "Confirm the waiting contact address",
    description: "With the code that was sent there. Five tries, once, for one hour. A pending account becomes active.",
    auth,
    body: Confirmation,
    responses: { 200: AccountResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    async handle(input) {
      const { principal, body } = input;
      const answer = (account: Account) => ok(viewAccount(account), { etag: etagOfAccount(account) });
      const result = await confirmContact({
        principal,
        code: body.code,
        by: actorOf(input),
        alongside: (tx, account) => input.idempotency.complete(tx, answer(account)),
      });
      switch (result.outcome) {
        case "confirmed":
          return answer(result.account);
        case "nothing-waiting":
          return nothingWaiting();
        case "not-found":
          return refused(404, "not_found");
        default:
          return codeRefused(result.outcome);
      }
    },
  });

  routes.post("/api/account/contact-change/resend", {
    summary: "Send another code to the waiting contact address",
    description: "It ends the earlier ones. At most five an hour.",
    auth,
    responses: { 202: SentCode, 404: "error", 409: "error" },
    idempotent: true,
    async handle(input) {
      const answer = ({ address, expiresAt }: SentContactCode) =>
        accepted({ sent_to: hintOf(address), expires_at: expiresAt.toISOString() });
      const result = await resendContactCode({
        principal: input.principal,
        alongside: (tx, sent) => input.idempotency.complete(tx, answer(sent)),
      });
      switch (result.outcome) {
        case "sent":
          return answer(result.sent);
        case "too-many":
          throw tooManyCodes();
        case "nothing-waiting":
          return nothingWaiting();
        case "not-found":
          return refused(404, "not_found");
      }
    },
  });

  routes.delete("/api/account/contact-change/", {
    summary: "Give up the waiting contact address",
    description: "The one in use stays. Where none waits, nothing happens.",
    auth,
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    async handle(input) {
      const result = await cancelContactChange({
        principal: input.principal,
        by: actorOf(input),
        expect: (account) => ifMatch(input, etagOfAccount(account)),
        alongside: (tx) => input.idempotency.complete(tx, noContent()),
      });
      return result.outcome === "not-found" ? refused(404, "not_found") : noContent();
    },
  });

  return routes;
}

const nothingWaiting = () => refused(409, "conflict", { message: "No contact address waits to be confirmed." });
