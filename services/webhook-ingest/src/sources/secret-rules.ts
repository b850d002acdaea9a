import { AppError } from "@signalbox/core";
import { type SchemeName, schemeOf } from "@signalbox/webhook-signatures";
import type { SourceSettings } from "./source-settings.ts";

/** Refuses a secret the scheme could not verify with. Throws AppError `validation_error` on `secret`. */
export function assertUsableSecret(scheme: SchemeName, settings: SourceSettings, secret: string): void {
  const problem = schemeOf(scheme, settings).secretProblem(secret);
  if (problem === null) return;
  throw new AppError("validation_error", "The secret does not fit the scheme.", {
    details: [{ field: "secret", code: "invalid_secret", message: problem }],
  });
}

/** Settings are the `hmac` scheme's alone: on another scheme they would promise something that is not done. */
export function assertSettingsFit(scheme: SchemeName, settings: SourceSettings): void {
  if (scheme === "hmac" || Object.keys(settings).length === 0) return;
  throw new AppError("validation_error", `The scheme ${scheme} takes no settings.`, {
    details: [{ field: "settings", code: "not_allowed", message: "Only the scheme hmac takes settings." }],
  });
}
