import { queryOptions } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ComponentProps } from "react";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, type Scope, useCredential, versioned } from "../../session/api.ts";

interface Section {
  readonly to: string;
  readonly name: string;
  readonly scope: Scope;
  /** True for what belongs to the person of the account, which members do not see. */
  readonly isPersonal?: true;
}

const sections: readonly Section[] = [
  { to: "/account", name: "Profile", scope: "account:read" },
  { to: "/account/sign-in", name: "Passkeys and sign-ins", scope: "account:read", isPersonal: true },
  { to: "/account/team", name: "Team", scope: "account:read" },
  { to: "/account/keys", name: "API keys", scope: "account:read" },
  { to: "/account/clients", name: "Service clients", scope: "account:read" },
  { to: "/account/audit", name: "Audit", scope: "account:read" },
  { to: "/account/data", name: "Export and deletion", scope: "account:security", isPersonal: true },
  { to: "/account/applications", name: "Applications", scope: "account:admin" },
  { to: "/account/invitations", name: "Invitations", scope: "account:admin" },
];

/** A page of the account, with the way to the others. */
export function AccountFrame({ children, ...page }: ComponentProps<typeof Page>) {
  const { data: credential } = useCredential();
  return (
    <Page {...page}>
      <nav className={parts.sections} aria-label="Pages of the account">
        {sections
          .filter(({ scope }) => credential?.scopes.includes(scope))
          .filter(({ isPersonal }) => !isPersonal || credential?.member_role === null)
          .map(({ to, name }) => (
            <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
              {name}
            </Link>
          ))}
      </nav>
      {children}
    </Page>
  );
}

export const readAccount = () => versioned(api.account.get());

/** The account of the signed-in person, as several pages show it. */
export const accountQuery = queryOptions({ queryKey: ["account", "own"], queryFn: readAccount });
