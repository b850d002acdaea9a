import { confirmContact } from "./confirm-contact.ts";
import { contactChangeRequested } from "./contact-change-requested.ts";
import { contactChangeUndone } from "./contact-change-undone.ts";
import { contactChanged } from "./contact-changed.ts";
import { contactCleared } from "./contact-cleared.ts";
import { signInCode } from "./sign-in-code.ts";
import { stepUpCode } from "./step-up-code.ts";

/** Every mail that we send, by kind: in each language the subject, then the paragraphs. */
export const templates = {
  "confirm-contact": confirmContact,
  "contact-change-requested": contactChangeRequested,
  "contact-changed": contactChanged,
  "contact-cleared": contactCleared,
  "contact-change-undone": contactChangeUndone,
  "step-up-code": stepUpCode,
  "sign-in-code": signInCode,
};
