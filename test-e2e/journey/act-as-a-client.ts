import assert from "node:assert/strict";
import { ApiError, type Client, createClient, dataOf } from "@signalbox/client";
import { eventually } from "@signalbox/testing";
import type { System } from "../systems/system.ts";
import { createClient as createSender, expectStatus } from "./client.ts";

/** CONTRACT §1: how long the end of a credential may take to hold in every service. */
const effectiveMs = 2_000;

/**
 * A program of the owner's gets tokens from the built-in issuer behind the edge, at the addresses that its discovery
 * names, and works with them at another service until it gives one back, and until the owner ends it.
 */
export async function actsAsAClient(system: System, owner: Client, imageId: string): Promise<void> {
  const anyone = createSender(system.baseUrl);
  const found = expectStatus(await anyone("/oauth/.well-known/openid-configuration"), 200).json;
  assert.equal(found.issuer, `${system.baseUrl}/oauth`);
  assert.ok(expectStatus(await anyone(found.jwks_uri), 200).json.keys.length > 0);

  const body = { name: "Nightly import", scopes: ["images:read" as const] };
  const made = await dataOf(owner.POST("/api/account/clients", { body }));
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
  const program = createClient({ baseUrl: system.baseUrl, credential: { token: first } });
  const image = { params: { path: { image_id: imageId } } };
  await assert.rejects(
    dataOf(program.DELETE("/images/{image_id}", image)),
    (error) => error instanceof ApiError && error.status === 403 && error.code === "forbidden",
  );

  expectStatus(await post(found.revocation_endpoint, { token: first }), 200);
  await isRefused(first);
  expectStatus(await list(second), 200);

  const params = { path: { client_id: made.id } };
  await dataOf(owner.DELETE("/api/account/clients/{client_id}", { params }));
  await isRefused(second);
  assert.equal(expectStatus(await askForToken(), 401).json.error, "invalid_client");
}
