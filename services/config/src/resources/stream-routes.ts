import { credentialFrom } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import { createRoutes, keptOpen, type Routes, refused, refusedWith } from "@signalbox/http";
import type { ConfigService } from "../context/config-service.ts";

const retryAfterSeconds = 10;
const refusals = {
  "too-many-of-credential": { code: "rate_limited", message: "This credential has too many open streams." },
  "too-many": { code: "unavailable", message: "There are too many open streams. Try again later." },
} as const;
/** nginx passes events on without buffering. */
const answered = { contentType: "text/event-stream", headers: { "x-accel-buffering": "no" } };

/** The stream of changes, as Server-Sent Events. */
export function streamRoutes({ configuration, stream }: ConfigService): Routes {
  const routes = createRoutes({ errors: "configuration" });
  routes.get("/api/v1/config/stream", {
    operationId: "configurationStream",
    summary: "Follow changes of configuration, settings and flags",
    description:
      "Server-sent events `config`, `settings` and `flags` with the changed names and their values. Ids are revisions: with Last-Event-ID, missed events are sent first, or `reset` if they are no longer kept.",
    auth: { scopes: [], access: "subscribe" },
    responses: {
      200: { content: ["text/event-stream"], example: exampleEvent },
      403: "error",
      429: "error",
      503: "error",
    },
    cache: "no-store",
    deadlineMs: null,
    handle: ({ principal, headers }) => {
      if (!configuration.get("capabilities.configStream")) {
        return refused(403, "forbidden", { message: "The stream is switched off in this deployment." });
      }
      const last = lastEventOf(headers["last-event-id"]);
      const refusal = stream.refusal(principal);
      if (refusal !== null) return refusedWith({ ...refusals[refusal], retryAfterSeconds });
      const credential = credentialFrom(headers);
      if (credential === null) throw new Error("A stream was opened without a credential");
      const follower = { principal, credential };
      return keptOpen((request, response) => void stream.open(follower, last, request, response), answered);
    },
  });
  return routes;
}

const exampleEvent = `event: config
id: 17
data: {"revision":"17","names":["limits.maxPageSize"],"values":{"limits.maxPageSize":50}}
`;

/** @throws AppError `invalid_request` for a malformed revision. */
function lastEventOf(header: string | string[] | undefined): number | null {
  if (header === undefined || header === "") return null;
  if (typeof header === "string" && /^\d{1,15}$/.test(header)) return Number(header);
  throw new AppError("invalid_request", "Last-Event-ID must be a revision number, digits only.", {
    field: "Last-Event-ID",
  });
}
