import type { Base } from "../base.ts";
import type { Identities } from "../identities/identities.ts";
import type { Proofs } from "../logins.ts";
import type { Configured } from "../properties.ts";
import type { IssuedTokens } from "../sign-ins/issued-tokens.ts";
import { createContactChanges, createContactConfirmations } from "./contact-changes.ts";
import { createContactLinkStore } from "./contact-link.ts";
import { createContactLinks, createContactObjections } from "./contact-links.ts";
import { createContactMails } from "./contact-mails.ts";

interface Dependencies {
  readonly base: Base;
  readonly proofs: Pick<Proofs, "oneTimeCodes" | "stepUps">;
  readonly identities: Identities;
  readonly issuedTokens: IssuedTokens;
  /** True when people sign in at the built-in issuer, where a link can identify its user. */
  readonly signsInByMail: boolean;
}

/** Opens the change of contact addresses: requested, confirmed by code or link, objected to. */
export function openContacts(
  { configuration, clock }: Configured,
  { base, proofs, identities, issuedTokens, signsInByMail }: Dependencies,
) {
  const { accountStore, accountRecords, verifiedAddresses, statusTransitions, auditRefusals } = base;
  const contactLinkStore = createContactLinkStore(base.pool);
  const contactMails = createContactMails({
    oneTimeCodes: proofs.oneTimeCodes,
    contactLinkStore,
    mails: base.mails,
    clock,
    baseUrl: configuration.get("http.base-url"),
    signsInByMail,
    objectionHours: () => configuration.get("account.contact.objection-window"),
  });
  const contactChanges = createContactChanges({ accountStore, accountRecords, identities, contactMails, clock });
  const contactConfirmations = createContactConfirmations({
    accountStore,
    accountRecords,
    verifiedAddresses,
    statusTransitions,
    contactMails,
    auditRefusals,
    clock,
  });
  const contactObjections = createContactObjections({
    accountStore,
    accountRecords,
    verifiedAddresses,
    contactLinkStore,
    contactMails,
    issuedTokens,
    stepUps: proofs.stepUps,
    clock,
  });
  const contactLinks = createContactLinks({
    accountStore,
    contactLinkStore,
    contactConfirmations,
    contactObjections,
    clock,
  });
  return { contactChanges, contactConfirmations, contactLinks };
}
