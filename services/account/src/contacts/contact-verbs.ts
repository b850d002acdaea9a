import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { Pool } from "@signalbox/storage";
import type { AccessLog } from "../access/access-log.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Audit } from "../audit/audit.ts";
import type { NoteRefusal } from "../audit/note-refusal.ts";
import type { OneTimeCodes } from "../codes/one-time-codes.ts";
import type { IdentityStore } from "../identities/identity-store.ts";
import type { HasWayIn } from "../identities/way-in.ts";
import type { Mails } from "../mail/mails.ts";
import type { EndSignIns } from "../oauth/end-sign-ins.ts";
import type { Configured } from "../properties.ts";
import type { EndStepUps } from "../step-up/end-step-ups.ts";
import { createAdoptContact } from "./adopt-contact.ts";
import { createCancelContactChange } from "./cancel-contact-change.ts";
import { createConfirmContact } from "./confirm-contact.ts";
import { createConfirmContactByLink } from "./confirm-contact-by-link.ts";
import { createContactLinkStore } from "./contact-link-store.ts";
import { createEndConfirmation } from "./end-confirmation.ts";
import { createFollowContactChange } from "./follow-contact-change.ts";
import { createHolderMails } from "./holder-mails.ts";
import { createObjectToContactChange } from "./object-to-contact-change.ts";
import { createResendContactCode } from "./resend-contact-code.ts";
import { createTrimContactLinks } from "./trim-contact-links.ts";

/** What the verbs write with that prove who somebody is. */
interface Proving {
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly accounts: AccountStore;
  readonly accessLog: AccessLog;
  readonly identities: IdentityStore;
  readonly hasWayIn: HasWayIn;
  readonly endSignIns: EndSignIns;
  readonly endStepUps: EndStepUps;
  readonly oneTimeCodes: OneTimeCodes;
  readonly mails: Mails;
  readonly noteRefusal: NoteRefusal;
}

/** What becomes of a new contact address: the verbs of its two holders, the one in use and the one that waits. */
export function createContactVerbs({ configuration }: Configured, parts: Proving) {
  const { pool, oneTimeCodes, mails, clock } = parts;
  const contactLinks = createContactLinkStore(pool);
  const baseUrl = configuration.get("http.base-url");
  const objectionHours = () => configuration.get("account.contact.objection-window");
  const holderMails = createHolderMails({ oneTimeCodes, contactLinks, mails, clock, baseUrl, objectionHours });
  const endConfirmation = createEndConfirmation({ oneTimeCodes, contactLinks, clock });
  const joined = { ...parts, contactLinks, holderMails, endConfirmation };
  const adoptContact = createAdoptContact(joined);
  return {
    contactLinks,
    followContactChange: createFollowContactChange(joined),
    confirmContact: createConfirmContact({ ...joined, adoptContact }),
    confirmContactByLink: createConfirmContactByLink({ ...joined, adoptContact }),
    resendContactCode: createResendContactCode(joined),
    cancelContactChange: createCancelContactChange(joined),
    objectToContactChange: createObjectToContactChange(joined),
    trimContactLinks: createTrimContactLinks(joined),
  };
}
