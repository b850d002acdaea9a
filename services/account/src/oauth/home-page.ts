import type { IncomingMessage, ServerResponse } from "node:http";
import type Provider from "oidc-provider";
import type { AccountStore } from "../accounts/account-store.ts";
import { labelOf } from "../contacts/contact.ts";
import { type Html, html, type Page } from "../pages/page.ts";
import type { Pages } from "../pages/pages.ts";
import { maySignIn } from "../sign-ins/sign-ins.ts";
import { fill, type Texts } from "../texts/texts.ts";
import { type IssuerAddress, signInUrl } from "./issuer-settings.ts";

interface Dependencies {
  readonly address: Pick<IssuerAddress, "issuer" | "path">;
  readonly accountStore: Pick<AccountStore, "find">;
  readonly pages: Pages;
}

export type HomePage = ReturnType<typeof createHomePage>;

/** The page of the issuer itself: it says who is signed in, and leads on from there. */
export function createHomePage({ address, accountStore, pages }: Dependencies) {
  return async function answerHome(
    provider: Provider,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    // A sign-in of our own returns with a code, which nobody needs and no address should keep.
    if (path !== "") return goHome(response, address.path);
    const texts = pages.textsFor(request.headers);
    const session = await provider.Session.get(provider.createContext(request, response));
    const account = session.accountId === undefined ? null : await accountStore.find(session.accountId);
    const label = account && maySignIn(account) ? labelOf(account) : null;
    pages.send(response, label === null ? signedOutPage(texts) : signedInPage(texts, label));
  };

  function signedInPage(texts: Texts, account: string): Page {
    const { home } = texts.pages;
    return pageOf(
      texts,
      html`<p>${fill(home.signedIn, { server: pages.brand().name, account })}</p>
<ul>
${link(`${address.path}/passkeys`, texts.pages.passkeys.title)}
${link(`${address.path}/device`, home.device)}
${link(`${address.path}/end-session`, home.signOut)}
</ul>`,
    );
  }

  function signedOutPage(texts: Texts): Page {
    const signIn = signInUrl(address.issuer, { folder: "home", token: "home" });
    return pageOf(
      texts,
      html`<p>${fill(texts.pages.home.signedOut, { server: pages.brand().name })}</p>
<ul>
${link(signIn, texts.pages.signInToConfirm.button)}
${link(`${address.path}/device`, texts.pages.home.device)}
</ul>`,
    );
  }
}

const pageOf = (texts: Texts, content: Html): Page => ({ status: 200, texts, title: texts.pages.home.title, content });

const link = (url: string, text: string): Html => html`<li><a href="${url}">${text}</a></li>`;

function goHome(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location, "Cache-Control": "no-store", "Content-Length": "0" });
  response.end();
}
