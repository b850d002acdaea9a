import { draft, isScope } from "@signalbox/contracts";
import { inTransaction } from "@signalbox/storage";
import { type Client, type Grant, interactionPolicy, type KoaContextWithOIDC } from "oidc-provider";
import { labelOf } from "../accounts/contact.ts";
import { recordInAudit } from "../audit/audit-log.ts";
import { brandOf, html, type Page } from "../pages/page.ts";
import { fill } from "../texts/texts.ts";
import { asksConsent, limitOf, withinLimit } from "./application-clients.ts";
import { claimsByScope } from "./claims.ts";
import { scopeList } from "./device-grant-pages.ts";
import type { IdentityService } from "./identity-service.ts";
import { guarded } from "./sign-in-pages.ts";
import { originOf, type Visit } from "./sign-in-visit.ts";

/** Our metadata of a client, if it is an application. */
const kept = (client: Client | undefined) => (client ?? {}) as Readonly<Record<"application_party", unknown>>;

/** Finds the grant that the person gave in this sign-in. */
export async function givenGrant({ oidc }: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { client, session, result, account } = oidc;
  const id = result?.consent?.grantId ?? session?.grantIdFor(client?.clientId ?? "");
  const grant = id === undefined ? undefined : await oidc.provider.Grant.find(id);
  return grant?.accountId === account?.accountId && grant?.clientId === client?.clientId ? grant : undefined;
}

/** Asks for consent until the grant of this sign-in covers what the application asks for. */
export const consentMissing = new interactionPolicy.Check(
  "consent_missing",
  "the person has not consented to this",
  "consent_required",
  ({ oidc }) => asksConsent(oidc.client) && (oidc.promptPending("consent") || !covers(oidc)),
);

function covers({ grant, requestParamOIDCScopes, requestParamScopes, resourceServers }: KoaContextWithOIDC["oidc"]) {
  if (!grant) return false;
  const granted = new Set(grant.getOIDCScope().split(" "));
  if ([...requestParamOIDCScopes].some((scope) => !granted.has(scope))) return false;
  return Object.entries(resourceServers ?? {}).every(([resource, { scopes }]) => {
    const given = new Set(grant.getResourceScope(resource).split(" "));
    return [...requestParamScopes].every((scope) => !scopes.has(scope) || given.has(scope));
  });
}

interface Asked {
  readonly client: Client | undefined;
  readonly ofApi: readonly string[];
}

function consentPage(
  { texts, form }: Visit,
  { client, ofApi }: Asked,
  names: { readonly account: string; readonly server: string },
): Page {
  const { consent } = texts.pages;
  const values = { application: form.application, ...names };
  const logo = client?.logoUri;
  const isForeign = kept(client).application_party === "third";
  return {
    status: 200,
    texts,
    title: consent.title,
    formTargets: form.formTargets,
    images: logo === undefined ? [] : [logo],
    content: html`${logo === undefined ? null : html`<p><img class="logo" src="${logo}" alt=""></p>`}
<p>${fill(consent.text, values)}</p>
${isForeign ? html`<p>${fill(consent.foreign, values)}</p>` : null}
${scopeList(texts, ofApi)}
<div class="buttons">
<form method="post" action="${form.action}">
${guarded(form, "allow")}
<button type="submit" class="main">${consent.allow}</button>
</form>
<form method="post" action="${form.action}">
${guarded(form, "deny")}
<button type="submit">${consent.deny}</button>
</form>
</div>`,
  };
}

export async function consentPageOf(service: IdentityService, visit: Visit): Promise<Page | null> {
  const account = await service.accountStore.find(visit.interaction.session?.accountId ?? "");
  if (!account) return null;
  return consentPage(visit, await askedBy(visit), { account: labelOf(account), server: brandOf(service).name });
}

/** Grants the application what it asked for, and goes back to it. */
export async function allowConsent(service: IdentityService, visit: Visit): Promise<void> {
  const { settings, pool } = service;
  const { provider, request, response, interaction } = visit;
  const accountId = interaction.session?.accountId ?? "";
  const { client, ofApi, ofPerson } = await askedBy(visit);
  const clientId = client?.clientId ?? "";
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope(ofPerson.join(" "));
  grant.addResourceScope(settings.address.audience, ofApi.join(" "));
  const grantId = await grant.save();
  const by = { kind: "owner", accountId, credential: clientId, ...originOf(service, visit) } as const;
  const scopes = [...ofPerson, ...ofApi];
  const data = { account_id: accountId, application: clientId, address: by.address, scopes, changed: [] };
  await inTransaction(pool, async (tx) => {
    const reason = scopes.join(" ");
    await recordInAudit(service, tx, by, { action: "application.consent", accountId, subject: clientId, reason });
    await service.outbox.append(tx, [draft("consent.granted", { subject: accountId, accountId, data })]);
  });
  await provider.interactionFinished(request, response, { consent: { grantId } }, { mergeWithLastSubmission: true });
}

/** Goes back to the application with nothing but the reason. */
export async function denyAccess({ provider, request, response }: Visit, reason: string): Promise<void> {
  const refusal = { error: "access_denied", error_description: reason };
  await provider.interactionFinished(request, response, refusal, { mergeWithLastSubmission: false });
}

/** The requested scopes that this application may have. */
async function askedBy({ provider, interaction: { params } }: Visit) {
  const client = await provider.Client.find(String(params.client_id));
  const asked = String(params.scope ?? "").split(" ");
  const ofApi = withinLimit(limitOf(client), asked.filter(isScope));
  const ofPerson = asked.filter((scope) => scope === "offline_access" || scope in claimsByScope);
  return { client, ofApi, ofPerson };
}
