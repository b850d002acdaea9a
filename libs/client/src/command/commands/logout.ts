import type { Context } from "../context.ts";
import { UsageError } from "../failures.ts";
import { withProfile } from "../profiles.ts";
import { revoke } from "../sign-in.ts";

/** Forgets a profile, and ends its sign-in at the issuer. */
export async function run({ output, profiles, profile }: Context): Promise<void> {
  const { current } = await profiles.read();
  const name = profile ?? current;
  const found = await profiles.change(async (file) => {
    const known = file.profiles[name] ?? null;
    return [known === null ? file : withProfile(file, name, null), known];
  });
  if (found === null) throw new UsageError(`There is no profile "${name}".`);
  const { url, credential } = found;
  if (credential.kind === "sign-in") await endSignIn();
  output.line(`Signed out of ${url}. The profile "${name}" was removed.`);
  if (credential.kind === "api-key") output.line("Its API key stays valid until it is revoked.");
  output.document({ profile: name, url });

  async function endSignIn(): Promise<void> {
    if (credential.kind !== "sign-in") return;
    // The profile is gone by now: what the issuer did not hear ends with the sign-in there.
    await revoke(credential).catch((error: Error) => {
      output.note(`The issuer did not end the sign-in (${error.message}). End it at ${url}/oauth/sign-ins.`);
    });
  }
}
