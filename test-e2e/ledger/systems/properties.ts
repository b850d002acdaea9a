/** The properties of every ledger: no limits, receivers on this host, and short deadlines for slow ones. */
export function ledgerProperties(issuer: string, stagingFolder: string): Record<string, string> {
  const trusted = { name: "ledger", issuer, audience: "signalbox", "roles-claim": "roles" };
  const limits = ["credential", "account", "failed-sign-in", "anonymous"].map((kind) => [
    `http.rate-limit.${kind}.requests`,
    "1000000",
  ]);
  return {
    ...Object.fromEntries(limits),
    "http.rate-limit.credential.burst": "1000000",
    "auth.issuers": JSON.stringify([trusted]),
    "account.api-keys.max": "1000",
    "http.strict-responses": "true",
    "images.upload.directory": stagingFolder,
    "management.endpoints.web.exposure.include": "health,metrics,info,env",
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
  };
}
