import type { DetailCode } from "@signalbox/core";
import type { CodeExplanation } from "./error-catalogue.ts";

/** Every code in `details[]`, the reasons why one field failed. A new code without a line here does not compile. */
export const detailCatalogue: Readonly<Record<DetailCode, CodeExplanation>> = {
  required: {
    meaning: "It is absent and has no default.",
    remedy: "Send it.",
  },
  invalid_type: {
    meaning: "It has the wrong JSON type; `null` counts as a type.",
    remedy: "Send the type that is named in the message.",
  },
  invalid_value: {
    meaning: "It is not one of the allowed values.",
    remedy: "Send one of the values in the message.",
  },
  invalid_format: {
    meaning: "It is a string in the wrong format.",
    remedy: "Use the format in the message.",
  },
  invalid_text: {
    meaning:
      "It contains U+0000, an unpaired surrogate, a control or bidirectional control character, or is named `__proto__`.",
    remedy: "Remove those characters.",
  },
  too_small: {
    meaning: "The number, string or list is below the minimum.",
    remedy: "Stay at or above the bound in the message.",
  },
  too_big: {
    meaning: "The number, string or list is above the maximum.",
    remedy: "Stay at or below the bound in the message.",
  },
  out_of_range: {
    meaning: "The parameter is not a whole number between its bounds.",
    remedy: "Send one within the bounds in the message.",
  },
  invalid: {
    meaning: "It breaks a rule that the message states.",
    remedy: "Change the value to follow the rule.",
  },
  unsupported: {
    meaning: "It is well formed, but this deployment does not support it.",
    remedy: "Choose one of the values in the message.",
  },
  unknown_member: {
    meaning: "The resource has no member, or the form no part, with this name.",
    remedy: "Correct the name or leave it out.",
  },
  read_only: {
    meaning: "It is read-only.",
    remedy: "Leave it out.",
  },
  not_allowed: {
    meaning: "It cannot be combined with another part of the request.",
    remedy: "Leave it out, or change the other part.",
  },
  unknown_parameter: {
    meaning: "The route has no query parameter with this name.",
    remedy: "Correct the name or leave it out.",
  },
  repeated: {
    meaning: "It occurs more than once.",
    remedy: "Send it once.",
  },
  invalid_cursor: {
    meaning: "The cursor was not issued by this list.",
    remedy: "Send `next_cursor` of an earlier page unchanged, or start without a cursor.",
  },
  credential_in_query: {
    meaning: "A credential is in the URL, which logs and browser histories store.",
    remedy: "Replace that credential and send the new one in a header.",
  },
  key_reused: {
    meaning: "The `Idempotency-Key` belongs to another request.",
    remedy: "Use a new key for a new request.",
  },
  duplicate_member: {
    meaning: "An object has two members with this name, and programs disagree about which one counts.",
    remedy: "Send it once.",
  },
  number_out_of_range: {
    meaning: "The number has more digits, or is larger, than most programs can represent.",
    remedy: "Send it as a string, or send a smaller number.",
  },
  too_deep: {
    meaning: "Values nest deeper than 64 levels.",
    remedy: "Send a flatter value.",
  },
  scope_required: {
    meaning: "The credential lacks the scope in the message.",
    remedy: "Use a credential that has it.",
  },
  step_up_required: {
    meaning: "The change requires a sign-in within the last 15 minutes.",
    remedy: "Sign in again or confirm a one-time code, then repeat the request.",
  },
  portal_session: {
    meaning: "A portal session asked for something beyond its endpoints, or its account is not active.",
    remedy: "Use a credential of the account.",
  },
  client_key: {
    meaning: "A key without scopes, which may only evaluate flags, asked for something else.",
    remedy: "Use a key with the scopes that the request needs.",
  },
  account_pending: {
    meaning: "The account is pending until its contact address is verified.",
    remedy: "Verify the address.",
  },
  account_active: {
    meaning: "The account is active, so there is nothing to do.",
    remedy: "Read the account before you ask again.",
  },
  account_suspended: {
    meaning: "An administrator suspended the account; it can only be read.",
    remedy: "Ask the operator.",
  },
  account_disabled: {
    meaning: "The account is disabled.",
    remedy: "Request its recovery with `POST /api/account/recovery/`.",
  },
  account_deleted: {
    meaning: "The account is deleted.",
    remedy: "Ask an administrator to restore it before it is purged.",
  },
  privileged: {
    meaning: "The scope comes from a role or an API key, never from a client.",
    remedy: "Leave the scope out.",
  },
  beyond_creator: {
    meaning: "The request exceeds your own permissions.",
    remedy: "Request less, or use a credential with the permission.",
  },
  not_owner: {
    meaning: "It belongs to a person, and only that person may change it.",
    remedy: "Ask the owner to change it.",
  },
  not_a_person: {
    meaning: "Codes are only sent to people who have signed in.",
    remedy: "Use a person's token, or an API key with `account:security`.",
  },
  passkey_required: {
    meaning: "This deployment requires the person to use a passkey.",
    remedy: "Sign in again with a passkey, or with a recovery code.",
  },
  too_many: {
    meaning: "The limit has been reached.",
    remedy: "Remove one that is not needed, or send fewer.",
  },
  transition_not_allowed: {
    meaning: "The status of the account does not allow the requested one.",
    remedy: "Read the account; its status decides what is possible.",
  },
  address_taken: {
    meaning: "Another account has verified the address, and an address belongs to one account.",
    remedy: "Change or remove it in the other account, then confirm it here with another code.",
  },
  last_way_in: {
    meaning: "It is the only remaining login of the account.",
    remedy: "Add another one first.",
  },
  passed: {
    meaning: "The time is in the past.",
    remedy: "Send a future time.",
  },
  revoked: {
    meaning: "The credential is revoked.",
    remedy: "Create a new one.",
  },
  expired: {
    meaning: "The credential has expired.",
    remedy: "Create a new one.",
  },
  not_active: {
    meaning: "The client is revoked or has expired.",
    remedy: "Create a new one.",
  },
  already_replaced: {
    meaning: "The key has been replaced by a newer one.",
    remedy: "Rotate the newer one.",
  },
  already_invited: {
    meaning: "The address already has an open invitation.",
    remedy: "Resend that one, or revoke it first.",
  },
  invitation_ended: {
    meaning: "The invitation was accepted or revoked.",
    remedy: "Invite the person again.",
  },
  registration_closed: {
    meaning: "Signing in creates no accounts here, so nobody could accept.",
    remedy: "Set `account.registration` to `invited`, or create the account yourself.",
  },
  external_id_taken: {
    meaning: "Another account has this id already.",
    remedy: "Find that account with `external_id`, or choose another id.",
  },
  already_rotated: {
    meaning: "A secret from before the last rotation is still valid.",
    remedy: "Wait until it ends, or rotate with an overlap of 0 seconds.",
  },
  no_issuer: {
    meaning: "The built-in issuer is off here, so a service client would get no tokens.",
    remedy: "Create the client at the issuer in use, or use an API key.",
  },
  last_administrator: {
    meaning: "The account is the only administrator, so the change could not be undone.",
    remedy: "Make another account an administrator first.",
  },
  last_owner: {
    meaning: "The member is the last owner of an account that no person owns directly.",
    remedy: "Make another member an owner first.",
  },
  roles_by_issuer: {
    meaning: "The roles of this account come from the tokens of another issuer.",
    remedy: "Change them at that issuer.",
  },
  wrong_code: {
    meaning: "The code is wrong.",
    remedy: "Type it again as the mail shows it.",
  },
  code_expired: {
    meaning: "The code has expired.",
    remedy: "Request a new one.",
  },
  code_used_up: {
    meaning: "The code was already used, or was tried too often.",
    remedy: "Request a new one.",
  },
  not_accepted: {
    meaning: "The token is not a valid access token of a trusted issuer.",
    remedy: "Sign in there again and send the new token.",
  },
  no_login: {
    meaning: "The token belongs to a program and not to the login of a person.",
    remedy: "Send a person's token.",
  },
  type_not_accepted: {
    meaning: "Files of this type, detected from the content, are not accepted.",
    remedy: "Send one of the types that `/api/v1/config/` lists.",
  },
  not_an_image: {
    meaning: "The file is damaged or is not an image.",
    remedy: "Send a file that other programs can open.",
  },
  side: {
    meaning: "One side of the image is too long.",
    remedy: "Make the image smaller.",
  },
  pixels: {
    meaning: "The image has too many pixels.",
    remedy: "Make the image smaller.",
  },
  frames: {
    meaning: "The animation has too many frames.",
    remedy: "Send fewer frames.",
  },
  frame_pixels: {
    meaning: "All frames together have too many pixels.",
    remedy: "Send fewer or smaller frames.",
  },
  aspect_ratio: {
    meaning: "The ratio of the sides is too large.",
    remedy: "Crop the image.",
  },
  malformed: {
    meaning: "It is not an absolute URL.",
    remedy: "Send one with scheme and host.",
  },
  scheme: {
    meaning: "The scheme of the URL is not supported.",
    remedy: "Use `https`.",
  },
  credentials: {
    meaning: "The URL contains a user name or a password.",
    remedy: "Remove them.",
  },
  address: {
    meaning: "The address is not public.",
    remedy: "Use a publicly reachable address, or ask the operator to allow this one.",
  },
  own_port: {
    meaning: "The URL leads back to this deployment.",
    remedy: "Use another address.",
  },
  invalid_secret: {
    meaning: "The secret does not fit the scheme of the source.",
    remedy: "Send one in the form that the message names.",
  },
};
