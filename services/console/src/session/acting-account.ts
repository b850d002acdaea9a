import { tabStorage } from "./browser-storage.ts";
import { clearDrafts } from "./drafts.ts";
import { consoleUrl } from "./place.ts";

/** Entry of the session storage: the account that this tab acts for instead of the person's own. It holds no token. */
const place = "signalbox console account";

/** The account that a sign-in of this tab asks for; null for the person's own. */
export const chosenAccount = (): string | null => tabStorage.get(place);

/** Goes on with the person's own account: the chosen one admits them no more. */
export const forgetAccount = (): void => tabStorage.remove(place);

/** Starts anew in this tab for an account of which the person is a member, or with null for their own. */
export function actFor(accountId: string | null): void {
  clearDrafts();
  if (accountId === null) forgetAccount();
  else tabStorage.set(place, accountId);
  location.assign(consoleUrl.href);
}
