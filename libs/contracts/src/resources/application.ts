import { z } from "zod";
import { scopes } from "../access/scopes.ts";
import { examples, identifier, liveValues, timestamp } from "./fields.ts";

/** An application that people sign in to, without its secrets, as administrators see it. */
export const ApplicationResource = z
  .object({
    id: identifier("The application, its `client_id`"),
    name: z.string().describe("The name that is shown to people."),
    type: z.enum(["browser", "server", "native", "device"]).describe("Where it runs; only a `server` has secrets."),
    redirect_uris: z.array(z.string()).describe("The addresses that a sign-in may return to, compared exactly."),
    post_logout_redirect_uris: z.array(z.string()).describe("The addresses that a sign-out may return to."),
    scopes: z.array(z.enum(scopes)).describe("The scopes that its tokens may have at most."),
    logo_url: z.string().nullable().describe("Shown on the consent page; null without one."),
    party: z.enum(["first", "third"]).describe("`third` for an application that somebody else made."),
    consent: z.enum(["none", "ask"]).describe("`ask` shows the person a consent page, once per sign-in."),
    id_token_signed_response_alg: z.enum(["RS256", "ES256"]).describe("The algorithm that signs its ID tokens."),
    secrets: liveValues("secrets"),
    created_at: timestamp.describe("The time of its creation."),
    updated_at: timestamp.describe("The time of its last change."),
  })
  .meta({ id: "OauthApplication", description: "An application that people sign in to." })
  .register(examples, {
    example: {
      id: "app_3tRq8Lc5WfYkKb0ZnVxPsd",
      name: "Harbour log",
      type: "server",
      redirect_uris: ["https://harbour.example/callback"],
      post_logout_redirect_uris: [],
      scopes: ["account:read", "images:read"],
      logo_url: null,
      party: "third",
      consent: "ask",
      id_token_signed_response_alg: "RS256",
      secrets: [{ id: "aps_9Kw3Rb0TqNfYp5LcVz8MxJ", created_at: "2026-01-01T09:00:00.000Z", ends_at: null }],
      created_at: "2026-01-01T09:00:00.000Z",
      updated_at: "2026-01-01T09:00:00.000Z",
    },
  });

export type ApplicationResource = z.output<typeof ApplicationResource>;
