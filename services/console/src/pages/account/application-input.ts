import type { OauthApplication } from "@signalbox/client";
import { wordsIn } from "../../parts/read-text.ts";
import type { Scope } from "../../session/api.ts";

export const emptyApplication = {
  name: "",
  redirectUris: "",
  signOutUris: "",
  scopes: [] as Scope[],
  logo: "",
  isAsking: false,
};

/** The form of an application, as it is typed. */
export type ApplicationInput = Readonly<typeof emptyApplication>;

/** Writes an application into the fields of the form. */
export function inputOf(application: OauthApplication): ApplicationInput {
  const { name, redirect_uris, post_logout_redirect_uris, scopes, logo_url, consent } = application;
  return {
    name,
    redirectUris: redirect_uris.join("\n"),
    signOutUris: post_logout_redirect_uris.join("\n"),
    scopes: [...scopes],
    logo: logo_url ?? "",
    isAsking: consent === "ask",
  };
}

/** Reads the fields of the form. The API judges the values. */
export function bodyOf({ name, redirectUris, signOutUris, scopes, logo, isAsking }: ApplicationInput) {
  return {
    name: name.trim(),
    redirect_uris: wordsIn(redirectUris),
    post_logout_redirect_uris: wordsIn(signOutUris),
    scopes: [...scopes],
    logo_url: logo.trim() || null,
    consent: isAsking ? ("ask" as const) : ("none" as const),
  };
}
