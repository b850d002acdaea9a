import { AppError, snakeCase } from "@signalbox/core";
import { leavesBodyOpen, type SchemeName, schemeOf } from "@signalbox/webhook-signatures";
import type { IngestService } from "../context/ingest-service.ts";
import type { SourceTerms } from "./source.ts";
import { foreignSettings, type SourceSettings } from "./source-settings.ts";

/** Refuses settings and a secret that the scheme cannot use. @throws AppError `validation_error` with each problem */
export function assertUsable({ outbound }: IngestService, { scheme, settings }: SourceTerms, secret?: string): void {
  assertSettingsFit(scheme, settings);
  if (secret === undefined) return;
  const { secretProblem: problemIn, keysAt } = schemeOf(scheme, settings);
  const secretProblem = (text: string) => problemIn(text, settings.acceptShortSecret === true);
  const keysUrl = keysAt?.(secret) ?? null;
  const isRefused =
    keysUrl !== null && secretProblem(secret) === null && outbound.check(keysUrl, { requireHttps: true }) !== null;
  const problem = isRefused ? "The address of the JWKS must be public, and https." : secretProblem(secret);
  if (problem === null) return;
  throw new AppError("validation_error", "The secret does not fit the scheme.", {
    details: [{ field: "secret", code: "invalid_secret", message: problem }],
  });
}

/** Refuses settings of another scheme, which would have no effect. */
function assertSettingsFit(scheme: SchemeName, settings: SourceSettings): void {
  const { acceptWeak = false, signedContent } = settings;
  const details = foreignSettings(scheme, settings).map((name) =>
    problemOf(name, `The scheme ${scheme} does not have this setting.`),
  );
  for (const name of algorithms)
    if (settings[name] === "sha1" && !acceptWeak)
      details.push(problemOf(snakeCase(name), "SHA-1 is weak; accept_weak must be true for it."));
  if (signedContent !== undefined && !acceptWeak && leavesBodyOpen(signedContent))
    details.push(problemOf("signed_content", "It does not cover the body; accept_weak must be true for it."));
  if (scheme === "ed25519") details.push(...keyProblems(settings));
  if (scheme === "jwt") details.push(...jwtProblems(settings));
  if (details.length > 0)
    throw new AppError("validation_error", `Some of these settings are not for the scheme ${scheme}.`, { details });
}

const algorithms = ["algorithm", "otherAlgorithm"] as const;

/** A sender's keys sign for all its customers: a token must be bound to this source, or to this body. */
function jwtProblems(settings: SourceSettings) {
  const { issuer, audience, bodyDigestClaim, tokenFormat, tokenFrom, tokenKey = "jwks", requiresTime } = settings;
  const problems = [];
  if (requiresTime === false && !bodyDigestClaim && !tokenFrom)
    problems.push(problemOf("requires_time", "A token without a time needs a body_digest_claim, or is in the body."));
  if (tokenFrom && !(typeof tokenFrom === "object" && "pointer" in tokenFrom))
    problems.push(problemOf("token_from", "A signed token is in a header or, with a pointer, in the body."));
  if (tokenFormat === "basic")
    problems.push(problemOf("token_format", "The scheme jwt needs token_format plain or bearer."));
  if (tokenKey === "jwks" && !bodyDigestClaim && !(issuer && audience))
    problems.push(problemOf("audience", "The scheme jwt needs an issuer and an audience, or a body_digest_claim."));
  if (tokenKey === "certificates" && !audience)
    problems.push(problemOf("audience", "Everybody's tokens have a chain to the same root: name yours."));
  return problems;
}

/** The address of a certificate comes from a stranger: it counts only where the source names it. */
function keyProblems(settings: SourceSettings) {
  const { keyFormat = "raw", certificateFrom, certificateUrls = [] } = settings;
  const problems = [];
  for (const name of algorithms)
    if (keyFormat === "raw" && (settings[name] ?? null) !== null)
      problems.push(problemOf(snakeCase(name), "An Ed25519 key has no other algorithm; it needs key_format spki."));
  if (keyFormat !== "certificate") {
    if (certificateFrom) problems.push(problemOf("certificate_from", "It needs key_format certificate."));
    if (certificateUrls.length > 0) problems.push(problemOf("certificate_urls", "It needs key_format certificate."));
    return problems;
  }
  if (!certificateFrom) problems.push(problemOf("certificate_from", "Say where the URL of the certificate is."));
  if (certificateUrls.length === 0)
    problems.push(problemOf("certificate_urls", "Name the URLs that a certificate may have."));
  return problems;
}

const problemOf = (name: string, message: string) => ({
  field: `settings.${name}`,
  code: "not_allowed" as const,
  message,
});
