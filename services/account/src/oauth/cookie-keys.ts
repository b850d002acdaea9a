import { hkdfSync } from "node:crypto";

/** The keys that sign the issuer's cookies, one of each of `secrets.keys`: the first signs, all are accepted. */
export function cookieKeysFrom(sealingKeys: readonly string[]): readonly string[] {
  return sealingKeys.map((key) =>
    Buffer.from(hkdfSync("sha256", key, "", "signalbox account oauth cookies", 32)).toString("base64url"),
  );
}
