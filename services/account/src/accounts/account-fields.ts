import { domainToASCII } from "node:url";
import { canonicalLocale } from "@signalbox/core";
import { z } from "zod";

/** A rule of a field: returns null for a valid value, else a sentence that says what is wrong. */
export type FieldRule = (value: string) => string | null;

/** Control characters, line and paragraph separators. */
const forbidden = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Texts are stored in NFC, so that two ways of typing the same text give the same value. */
export const normalized = (text: string): string => text.normalize("NFC");

const addressBytesMax = 254;
const localBytesMax = 64;
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/u;
/** The dot-atom of RFC 5322 with the letters of RFC 6531; quoted local parts are refused. */
const localPart =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\u{10FFFF}-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\u{10FFFF}-]+)*$/u;
const domainLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** An e-mail address, internationalised ones included, whose domain could be looked up. */
export const checkContactAddress: FieldRule = (address) => {
  const at = address.lastIndexOf("@");
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  const fits = Buffer.byteLength(address) <= addressBytesMax && Buffer.byteLength(local) <= localBytesMax;
  const readable = address.isWellFormed() && ![forbidden, invisible, /\s/u].some((one) => one.test(address));
  if (at > 0 && fits && readable && localPart.test(local) && isDomain(domain)) return null;
  return "This is not an e-mail address.";
};

/**
 * Returns the form that two spellings of one mailbox share. Mail systems ignore the case of the local part, though they
 * need not; letters that only look different are folded too, so that no address gets a look-alike.
 */
export function canonicalAddress(address: string): string {
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at).normalize("NFKC").replaceAll(new RegExp(invisible, "gu"), "");
  return `${local.toLowerCase().normalize("NFKC")}@${domainToASCII(address.slice(at + 1))}`;
}

/**
 * IANA names of two and three letters. ICU knows more of them from Java's past, such as IST, which stands for several
 * zones.
 */
const shortZones = new Set("UTC UCT GMT WET CET MET EET EST MST HST PRC ROC ROK GB NZ".split(" "));
const zoneName = /^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*){0,2}$/;

/** A name of the IANA time zone database, as ICU knows it and in its spelling; offsets such as `+02:00` are none. */
export const checkTimezone: FieldRule = (name) => {
  const shaped = name.length <= 64 && zoneName.test(name) && !name.startsWith("SystemV/");
  if (shaped && (name.length > 3 || shortZones.has(name)) && isKnownToIcu(name)) return null;
  return "This is not an IANA time zone.";
};

/** One of the locales this deployment supports, in any case of letters. */
export const checkLocale =
  (supported: readonly string[]): FieldRule =>
  (locale) =>
    supported.includes(canonicalLocale(locale) ?? locale) ? null : `The supported locales are ${supported.join(", ")}.`;

function isDomain(domain: string): boolean {
  // `domainToASCII` would decode `%61` to a letter, which no mail system does.
  const labels = domain.includes("%") ? [] : domainToASCII(domain).split(".");
  const last = labels.at(-1) ?? "";
  return labels.length > 1 && labels.every((label) => domainLabel.test(label)) && /[a-z]/.test(last);
}

/** ICU accepts names in any case and returns its own spelling or, for an alias, another name. */
function isKnownToIcu(timeZone: string): boolean {
  try {
    const known = new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone;
    return known === timeZone || known.toLowerCase() !== timeZone.toLowerCase();
  } catch {
    return false;
  }
}

/** The id of an account in another system: printable, so that it fits into logs and URLs. */
export const externalId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:@/-]*$/, "use letters, digits and . _ : @ / -, with a letter or digit first")
  .min(1)
  .max(128)
  .meta({ examples: ["customer-4711"] });
