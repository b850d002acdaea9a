import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { type Scope, useCredential } from "../../session/api.ts";

interface Section {
  readonly to: string;
  readonly name: string;
  readonly scope: Scope;
}

const sections: readonly Section[] = [
  { to: "/account", name: "Profile", scope: "account:read" },
  { to: "/account/sign-in", name: "Passkeys and sign-ins", scope: "account:read" },
  { to: "/account/keys", name: "API keys", scope: "account:read" },
  { to: "/account/clients", name: "Service clients", scope: "account:read" },
  { to: "/account/audit", name: "Audit", scope: "account:read" },
  { to: "/account/data", name: "Export and deletion", scope: "account:security" },
  { to: "/account/applications", name: "Applications", scope: "account:admin" },
  { to: "/account/invitations", name: "Invitations", scope: "account:admin" },
];

interface FrameProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page of the account, with the way to the others. */
export function AccountFrame({ title, actions, children }: FrameProps) {
  const { data: credential } = useCredential();
  return (
    <Page title={title} actions={actions}>
      <nav className={parts.sections} aria-label="Pages of the account">
        {sections
          .filter(({ scope }) => credential?.scopes.includes(scope))
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
