import assert from "node:assert/strict";
import { eventually } from "@signalbox/testing";
import type { System } from "../systems/system.ts";
import { type Client, createClient, expectStatus } from "./client.ts";

/** CONTRACT §1: how long the end of a credential may take to hold in every service. */
const effectiveMs = 2_000;

/**
 * A program of the owner's gets tokens from the built-in issuer behind the edge, at the addresses that its discovery
 * names, and works with them at another service until it gives one back, and until the owner ends it.
 */
export async function actsAsAClient(system: System, owner: Client, imageId: string): Promise<void> {
  const anyone = createClient(system.baseUrl);
  const found = expectStatus(await anyone("/oauth/.well-known/openid-configuration"), 200).json;
  assert.equal(found.issuer, `${system.baseUrl}/oauth`);
  assert.ok(expectStatus(await anyone(found.jwks_uri), 200).json.keys.length > 0);

  const wanted = { name: "Nightly import", scopes: ["images:read"] };
  const made = expectStatus(await owner("/api/account/clients/", { body: wanted }), 201).json;
  const authorization = `Basic ${Buffer.from(`${made.client_id}:${made.client_secret}`).toString("base64")}`;
  const post = (url: string, form: Record<string, string>) =>
    anyone(url, {
      body: Buffer.from(new URLSearchParams(form).toString()),
      headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
    });
  const askForToken = () => post(found.token_endpoint, { grant_type: "client_credentials" });
  const newToken = async (): Promise<string> => expectStatus(await askForToken(), 200).json.access_token;
  const list = (token: string) => anyone("/images", { headers: { authorization: `Bearer ${token}` } });
  const isRefused = (token: string) =>
    eventually(async () => (await list(token)).status === 401, { timeoutMs: effectiveMs });

  const [first, second] = [await newToken(), await newToken()];
  const { items } = expectStatus(await list(first), 200).json;
  assert.ok(
    items.some(({ id }: { id: string }) => id === imageId),
    "it acts for the account that made it",
  );
  const headers = { authorization: `Bearer ${first}` };
  expectStatus(await anyone(`/images/${imageId}`, { method: "DELETE", headers }), 403);

  expectStatus(await post(found.revocation_endpoint, { token: first }), 200);
  await isRefused(first);
  expectStatus(await list(second), 200);

  expectStatus(await owner(`/api/account/clients/${made.id}`, { method: "DELETE" }), 204);
  await isRefused(second);
  assert.equal(expectStatus(await askForToken(), 401).json.error, "invalid_client");
}
