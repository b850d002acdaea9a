import type { Caller } from "@signalbox/auth";
import {
  AccountResource,
  AccountSettingsResource,
  ApiKeyResource,
  AuditEntryResource,
  accountExample,
  apiKeyExample,
  exampleOf,
  examples,
  ImageResource,
  PasskeyResource,
  ServiceClientResource,
  timestamp,
  WebhookEndpointResource,
  WebhookSourceResource,
} from "@signalbox/contracts";
import { createRoutes, refused, stream } from "@signalbox/http";
import { z } from "zod";
import type { AccountService } from "../context/account-service.ts";
import { ExportedSignIn, signInExample } from "../sign-ins/sign-in.ts";
import { startExport } from "./account-export.ts";

const Login = z
  .object({
    issuer: z.string().describe("The issuer that the login comes from."),
    subject: z.string().describe("The subject at that issuer."),
    created_at: timestamp,
  })
  .meta({ id: "ExportedLogin" });

const ExportDocument = z
  .object({
    exported_at: timestamp,
    left_out: z.array(z.string()).describe("Sections whose service this deployment does not have."),
    account: AccountResource,
    settings: AccountSettingsResource,
    identities: z.array(Login).describe("The logins of the account."),
    api_keys: z.array(ApiKeyResource).describe("The API keys, without the keys themselves."),
    service_clients: z.array(ServiceClientResource).describe("The service clients, without their secrets."),
    sign_ins: z.array(ExportedSignIn).describe("The sign-ins at the built-in issuer."),
    passkeys: z.array(PasskeyResource).describe("The passkeys, without their keys."),
    audit: z.array(AuditEntryResource).describe("The audit log of the account."),
    images: z.array(ImageResource).optional().describe("The image records of the account."),
    webhook_sources: z.array(WebhookSourceResource).optional().describe("The webhook sources, without secrets."),
    webhook_endpoints: z.array(WebhookEndpointResource).optional().describe("The webhook endpoints, without secrets."),
    complete: z.literal(true).describe("The last member. If it is missing, the document is truncated."),
  })
  .meta({ id: "AccountExport", description: "All data of an account, without secrets and the bytes of images." })
  .register(examples, {
    example: {
      exported_at: "2026-01-03T08:15:00.000Z",
      left_out: [],
      account: accountExample,
      settings: exampleOf(AccountSettingsResource),
      identities: [{ issuer: "corp", subject: "9f31c2", created_at: "2026-01-01T09:00:00.000Z" }],
      api_keys: [apiKeyExample],
      service_clients: [],
      sign_ins: [signInExample],
      passkeys: [exampleOf(PasskeyResource)],
      audit: [exampleOf(AuditEntryResource)],
      images: [],
      webhook_sources: [],
      webhook_endpoints: [],
      complete: true,
    },
  });

/** `/api/account/export/`, `/api/accounts/{id}/export/`: everything the account has. */
export function exportRoutes(service: AccountService) {
  const routes = createRoutes({ errors: "account", exampleIds: { account_id: accountExample.id } });

  routes.get("/api/account/export/", {
    operationId: "accountExport",
    summary: "Export all data of the account",
    description: "A JSON document, streamed while it is read. Its last member is `complete`.",
    // The export shows the audit, the logins and the lists of other services: more than any other reading route.
    auth: { scopes: ["account:read", "account:security"], access: "own-account:read", stepUp: true, ownAccount: true },
    audit: "account.export",
    responses: { 200: ExportDocument, 404: "error", 503: "error" },
    handle: ({ caller }) => answerExport(service, caller, caller.accountId),
  });

  routes.get("/api/accounts/:account_id/export/", {
    operationId: "exportOfAccount",
    summary: "Export all data of an account",
    description: "For administrators, on behalf of a person, who gets a notice. Its last member is `complete`.",
    auth: { scopes: ["account:admin"], stepUp: true },
    audit: "account.export",
    responses: { 200: ExportDocument, 404: "error", 503: "error" },
    handle: ({ caller, params }) => answerExport(service, caller, params.account_id),
  });

  return routes;
}

async function answerExport(service: AccountService, caller: Caller, accountId: string) {
  const document = await startExport(service, caller, accountId);
  if (!document) return refused(404, "not_found");
  return stream(document, {
    contentType: "application/json",
    headers: { "content-disposition": `attachment; filename="${accountId}.json"` },
  });
}
