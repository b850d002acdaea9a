import { text } from "node:stream/consumers";
import { dataOf } from "../../answers.ts";
import { assertSendable, connect, findAccess } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Input } from "../declare.ts";
import { Failure, UsageError } from "../failures.ts";
import { type Profile, profileName, type SignIn, withProfile } from "../profiles.ts";
import { findIssuer, revoke, startDevice, waitForTokens } from "../sign-in.ts";

interface LoginOptions {
  readonly "with-key": boolean;
  readonly scope: string | undefined;
  readonly "client-id": string | undefined;
}

/** Keeps a sign-in or an API key in the profile of the call, once Signalbox has accepted it. */
export async function run(context: Context, { options }: Input<LoginOptions>): Promise<void> {
  const { output, profiles } = context;
  const url = await addressFor(context);
  const name = context.profile ?? (await profiles.read()).current;
  if (!profileName.test(name)) {
    throw new UsageError(`Invalid profile name "${name}": use letters, digits, dots, - and _, at most 64.`);
  }
  const credential = options["with-key"] ? await readKey(context) : await signIn(context, url, options);
  const profile: Profile = { url, credential };
  const account = await accountOf(context, profile);
  const before = await profiles.change(async (file) => {
    const next = withProfile(file, name, profile);
    return [{ ...next, current: name }, file.profiles[name] ?? null];
  });
  // The sign-in that this one replaces would live on without an owner.
  if (before?.credential.kind === "sign-in") await revoke(before.credential).catch(() => undefined);
  output.line(`Signed in at ${url} as ${account}. The profile "${name}" is in ${profiles.path}.`);
  output.document({ profile: name, url, account_id: account });
}

/** A new profile has no address yet: it is that of the call. */
async function addressFor(context: Context): Promise<string> {
  const named = { ...context, profile: null };
  const known = context.profile === null || (await context.profiles.read()).profiles[context.profile] !== undefined;
  return (await findAccess(known ? context : named)).url;
}

const keyBytesMax = 1_024;

async function readKey({ stdin, isInteractive }: Context): Promise<Profile["credential"]> {
  if (isInteractive) throw new UsageError("The key is read from standard input: signalbox login --with-key < key.txt");
  const apiKey = (await text(stdin)).trim();
  if (apiKey === "" || apiKey.length > keyBytesMax || /\s/.test(apiKey)) {
    throw new UsageError("Standard input contains no API key.");
  }
  assertSendable(apiKey, "standard input");
  return { kind: "api-key", apiKey };
}

async function signIn(context: Context, url: string, options: LoginOptions): Promise<SignIn> {
  const { output, nowMs } = context;
  const { scope = "", "client-id": clientId = "cli" } = options;
  const issuer = await findIssuer(url);
  const request = await startDevice(issuer, clientId, `openid offline_access ${scope}`.trim());
  // On standard error, so that a script with --json can show it to its person.
  output.note(`Open ${request.verification_uri_complete ?? request.verification_uri}`);
  output.note(`and confirm the code ${request.user_code}. Do not share it.`);
  return waitForTokens(issuer, request, { clientId, nowMs });
}

/** Asks Signalbox whom the credential belongs to, before it is kept. */
async function accountOf(context: Context, { url, credential }: Profile): Promise<string> {
  const kept = { current: "new", profiles: { new: { url, credential } } };
  const profiles = { ...context.profiles, read: async () => kept };
  const { client } = await connect({ ...context, environment: {}, profile: "new", url, profiles });
  const { account_id: id } = await dataOf(client.GET("/api/account/credential"));
  if (typeof id !== "string") throw new Failure(`${url} is not a Signalbox deployment.`);
  return id;
}
