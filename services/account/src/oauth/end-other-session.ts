import type Provider from "oidc-provider";
import type { Interaction } from "oidc-provider";

/**
 * Ends the session of another account in the browser that has signed in to this one. The provider would do so itself by
 * a page that posts by script, which our pages never run.
 */
export async function endOtherSession(provider: Provider, interaction: Interaction, accountId: string): Promise<void> {
  const { session } = interaction;
  if (!session || session.accountId === accountId) return;
  const other = await provider.Session.findByUid(session.uid);
  interaction.session = undefined;
  await interaction.persist();
  await other?.destroy();
}
