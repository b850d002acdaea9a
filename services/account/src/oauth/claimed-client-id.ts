const basic = /^basic +([A-Za-z0-9+/]+=*)$/i;

/** Reads who a request says it is from, rightly or not (RFC 6749 §2.3.1): in its form, or else by Basic. */
export function claimedClientId(inForm: unknown, authorization: string | undefined): string | null {
  if (typeof inForm === "string") return inForm;
  const [, encoded = ""] = basic.exec(authorization ?? "") ?? [];
  const [named = ""] = Buffer.from(encoded, "base64").toString().split(":", 1);
  return named || null;
}
