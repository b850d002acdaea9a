import type { OauthApplication } from "@signalbox/client";
import type { FieldsData } from "../../parts/form.tsx";
import { wordsIn } from "../../parts/read-text.ts";
import { type Scope, useCredential } from "../../session/api.ts";
import { ScopeChoice } from "./scope-choice.tsx";

/** The fields of an application, for a new one and for one that is edited. */
export function useApplicationFields(): FieldsData<ApplicationInput> {
  const { data: own } = useCredential();
  return {
    name: { label: "Name", hint: "Shown when people sign in.", required: true, maxLength: 100 },
    redirectUris: {
      label: "Redirect URIs",
      hint: "One per line, compared exactly. None for a device.",
      rows: 2,
    },
    signOutUris: { label: "Sign-out URIs", hint: "One per line.", rows: 2 },
    logo: { label: "Logo URL", hint: "https; shown when a person is asked for consent. Optional.", type: "url" },
    isAsking: { label: "Ask each person for consent; third-party applications always ask" },
    scopes: ({ value, set }) => (
      <ScopeChoice
        legend="Maximum scopes"
        // What it has already may stay, also where this person has less.
        offered={[...new Set([...(own?.scopes ?? []), ...value])]}
        chosen={value}
        choose={set}
      />
    ),
  };
}

export const emptyApplication = {
  name: "",
  redirectUris: "",
  signOutUris: "",
  scopes: [] as Scope[],
  logo: "",
  isAsking: false,
};

/** The form of an application, as it is typed. */
type ApplicationInput = Readonly<typeof emptyApplication>;

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
