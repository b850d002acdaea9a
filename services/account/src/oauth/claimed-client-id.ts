const basic = /^basic +([A-Za-z0-9+/]+=*)$/i;

/** Reads the client id that a request claims, unverified (RFC 6749 §2.3.1): from its form, or else from Basic. */
export function claimedClientId(inForm: unknown, authorization: string | undefined): string | null {
  if (typeof inForm === "string") return inForm;
  const [, encoded = ""] = basic.exec(authorization ?? "") ?? [];
  const [named = ""] = Buffer.from(encoded, "base64").toString().split(":", 1);
  return named || null;
}
