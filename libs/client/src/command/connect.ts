import { createClient } from "../client.ts";
import type { Connection, Context } from "./context.ts";
import { answerMsMax, exchange, exchangeJson } from "./exchange.ts";
import { exitCodes, Failure, UsageError } from "./failures.ts";
import { noProfiles, type Profile, type SignIn } from "./profiles.ts";

/** The address and the credential of a call, and where they came from. */
export interface Access {
  readonly url: string;
  readonly profile: string;
  readonly credential: Profile["credential"] | null;
  readonly from: "SIGNALBOX_API_KEY" | "profile" | null;
}

const defaultUrl = "http://127.0.0.1:8080";

/**
 * Finds the address and the credential of a call. The credential of a profile goes to the address of that profile and to no
 * other.
 */
export async function findAccess({ environment, profiles, profile: asked, url }: Context): Promise<Access> {
  const apiKey = environment.SIGNALBOX_API_KEY;
  // A file that nothing is taken from may be as it likes.
  const isUsed = !apiKey || asked !== null || (url === null && !environment.SIGNALBOX_URL);
  const file = isUsed ? await profiles.read() : noProfiles;
  const name = asked ?? file.current;
  const profile = file.profiles[name] ?? null;
  if (asked !== null && profile === null && url === null && !environment.SIGNALBOX_URL) {
    throw new UsageError(`There is no profile "${asked}". Run: signalbox login --profile ${asked} --url <url>`);
  }
  const address = addressOf(url ?? (environment.SIGNALBOX_URL || (profile?.url ?? defaultUrl)));
  if (apiKey) {
    assertSendable(apiKey, "SIGNALBOX_API_KEY");
    return { url: address, profile: name, credential: { kind: "api-key", apiKey }, from: "SIGNALBOX_API_KEY" };
  }
  const credential = profile?.url === address ? profile.credential : null;
  return { url: address, profile: name, credential, from: credential && "profile" };
}

/** @throws Failure for a key that no header can carry, without showing it */
export function assertSendable(apiKey: string, source: string): void {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return;
  throw new Failure(`The API key from ${source} contains an invalid character. Copy it again.`, exitCodes.refused);
}

/** Returns an address in one form, without a slash at its end. @throws UsageError for one that is no deployment's */
function addressOf(url: string): string {
  if (!URL.canParse(url)) throw new UsageError(`Invalid URL "${url}": use one such as https://signalbox.example.`);
  const { protocol, origin, pathname, username, password, search, hash } = new URL(url);
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== "") {
    throw new UsageError("The URL must be http:// or https:// with a host, without credentials, query or fragment.");
  }
  return origin + pathname.replace(/\/+$/, "");
}

/** Connects to the deployment of the call. @throws Failure when there is no credential for it */
export async function connect(context: Context): Promise<Connection> {
  const access = await findAccess(context);
  const { url: baseUrl, credential, profile } = access;
  if (credential === null) {
    const command = `signalbox login --url ${baseUrl}`;
    throw new Failure(`Not signed in at ${baseUrl}. Run: ${command}, or set SIGNALBOX_API_KEY.`, exitCodes.refused);
  }
  const token = () => currentToken(context, profile, baseUrl);
  const isKey = credential.kind === "api-key";
  if (isKey) assertSendable(credential.apiKey, `the profile "${profile}"`);
  const headers = async () =>
    isKey ? { "X-API-Key": credential.apiKey } : { Authorization: `Bearer ${await token()}` };
  return {
    baseUrl,
    client: createClient({
      baseUrl,
      credential: isKey ? { apiKey: credential.apiKey } : { token },
      fetch: exchangeJson,
    }),
    async send(path, { signal, ...request } = {}, timeoutMs = answerMsMax) {
      const own = new Headers(request.headers);
      for (const [name, value] of Object.entries(await headers())) own.set(name, value);
      return exchange(new Request(baseUrl + path, { ...request, headers: own }), timeoutMs, signal ?? undefined);
    },
  };
}

/** A token is renewed this long before its end, so that it does not end on its way. */
const renewBeforeMs = 30_000;

/** Returns a live access token of the profile, refreshed and kept when the last one is about to end. */
async function currentToken({ profiles, nowMs }: Context, name: string, url: string): Promise<string> {
  const find = (file: Awaited<ReturnType<typeof profiles.read>>): SignIn => {
    const profile = file.profiles[name];
    if (profile?.url === url && profile.credential.kind === "sign-in") return profile.credential;
    throw new Failure(`The sign-in at ${url} has ended. Run: signalbox login`, exitCodes.refused);
  };
  const isLive = ({ expiresAtMs }: SignIn) => expiresAtMs - renewBeforeMs > nowMs();
  const now = find(await profiles.read());
  if (isLive(now)) return now.accessToken;
  return profiles.change(async (file) => {
    const kept = find(file);
    // Another command has refreshed meanwhile.
    if (isLive(kept)) return [file, kept.accessToken];
    const { refresh } = await import("./sign-in.ts");
    const credential = await refresh(kept, nowMs);
    const { withProfile } = await import("./profiles.ts");
    return [withProfile(file, name, { url, credential }), credential.accessToken];
  });
}
