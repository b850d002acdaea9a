import type { Principal } from "@signalbox/auth";
import { timestamp } from "@signalbox/contracts";
import { accepted, createRoutes, type HttpResponse, ok, type RouteInput, refused } from "@signalbox/http";
import { z } from "zod";
import { actorOf } from "../audit/actor.ts";
import { codeRefused, typedCodeField } from "../codes/code-refused.ts";
import { SentCode } from "../codes/sent-code.ts";
import { tooManyCodes } from "../codes/too-many-codes.ts";
import { hintOf } from "../contacts/contact-link.ts";
import type { CompleteStepUpVerb } from "./complete-step-up.ts";
import type { RequestStepUpVerb, SentStepUp } from "./request-step-up.ts";

interface Dependencies {
  readonly requestStepUp: RequestStepUpVerb;
  readonly completeStepUp: CompleteStepUpVerb;
}

const StepUpBody = z.strictObject({ code: typedCodeField.optional() });

const StepUp = z
  .object({ valid_until: timestamp.describe("Until then this token counts as freshly signed in.") })
  .meta({ id: "StepUp" });

type Input = RouteInput<Principal, unknown, unknown, z.output<typeof StepUpBody>>;

/** How somebody whose sign-in is too old proves who they are. */
export function stepUpRoutes({ requestStepUp, completeStepUp }: Dependencies) {
  const routes = createRoutes({ errors: "account" });

  routes.post("/api/account/step-up/", {
    summary: "Prove again who you are, with a code sent to the contact address",
    description:
      "Without `code` one is sent to the verified contact address; with it this token counts as freshly signed in for 15 minutes, in every service. For tokens of people.",
    // Any sensitive change may need it, whatever scope the change is about.
    auth: { scopes: [], access: "own-account:write" },
    body: StepUpBody,
    responses: { 200: StepUp, 202: SentCode, 403: "error", 404: "error", 409: "error" },
    idempotent: true,
    handle: (input) => (input.body.code === undefined ? request(input) : complete(input, input.body.code)),
  });

  return routes;

  async function request(input: Input): Promise<HttpResponse> {
    const answer = ({ address, expiresAt }: SentStepUp) =>
      accepted({ sent_to: hintOf(address), expires_at: expiresAt.toISOString() });
    const result = await requestStepUp({
      principal: input.principal,
      alongside: (tx, sent) => input.idempotency.complete(tx, answer(sent)),
    });
    switch (result.outcome) {
      case "sent":
        return answer(result.sent);
      case "no-address":
        return refused(409, "conflict", { message: "The account has no verified contact address: sign in again." });
      case "too-many":
        throw tooManyCodes();
      case "not-a-person":
        return notAPerson();
      case "not-found":
        return refused(404, "not_found");
    }
  }

  async function complete(input: Input, code: string): Promise<HttpResponse> {
    const answer = (validUntil: Date) => ok({ valid_until: validUntil.toISOString() });
    const { principal } = input;
    const alongside: Parameters<CompleteStepUpVerb>[0]["alongside"] = (tx, until) =>
      input.idempotency.complete(tx, answer(until));
    const result = await completeStepUp({ principal, code, by: actorOf(input), alongside });
    switch (result.outcome) {
      case "done":
        return answer(result.validUntil);
      case "not-a-person":
        return notAPerson();
      case "not-found":
        return refused(404, "not_found");
      default:
        return codeRefused(result.outcome);
    }
  }
}

function notAPerson(): HttpResponse {
  const message = "Only the access token of a person, with a `jti`, can be raised by a code.";
  return refused(403, "forbidden", { message, details: [{ field: "authorization", code: "not_a_person", message }] });
}
