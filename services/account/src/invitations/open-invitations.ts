import { parseIssuers } from "@signalbox/auth";
import type { Base } from "../base.ts";
import type { Configured } from "../properties.ts";
import { createRegistration, type RegistrationMode } from "../registration/registration.ts";
import { createInvitationAcceptance } from "./invitation-acceptance.ts";
import { createInvitationStore } from "./invitation-store.ts";
import { createInvitations } from "./invitations.ts";

/** Opens the invitations, and the rules by which people get an account. */
export function openInvitations({ configuration, clock }: Configured, base: Base) {
  const { pool, accountStore, provisioning, mails, access, audit, outbox } = base;
  const issuers = parseIssuers(configuration.get("auth.issuers"));
  const rolesAreOurs = issuers.length === 0;
  const mode = () => configuration.get("account.registration") as RegistrationMode;
  const invitationStore = createInvitationStore(pool);
  const invitations = createInvitations({
    invitationStore,
    accountStore,
    mails,
    audit,
    outbox,
    clock,
    rules: {
      isClosed: () => rolesAreOurs && mode() === "closed",
      max: () => configuration.get("account.invitations.max"),
      defaultLocale: () => configuration.get("defaults.locale"),
      baseUrl: configuration.get("http.base-url"),
      rolesAreOurs,
    },
  });
  const invitationAcceptance = createInvitationAcceptance({
    invitationStore,
    accountStore,
    access,
    audit,
    outbox,
    clock,
    rolesAreOurs,
  });
  const registration = createRegistration({
    provisioning,
    invitationAcceptance,
    rules: {
      mode,
      domains: () => configuration.get("account.registration.domains"),
      invitedIssuers: new Set(issuers.filter(({ provision }) => provision === "invited").map(({ name }) => name)),
    },
  });
  return { invitations, invitationAcceptance, registration };
}
