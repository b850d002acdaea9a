import parts from "../../parts/parts.module.css";
import type { Scope } from "../../session/api.ts";

/** Each scope with what it allows, for people. */
const texts: Readonly<Record<Scope, string>> = {
  "account:read": "read the account, its keys and its audit",
  "account:write": "change the profile and the contact address",
  "account:security": "create and revoke keys, clients, passkeys and sign-ins",
  "account:admin": "administer all accounts of this deployment",
  "images:read": "read images",
  "images:write": "upload, change and delete images",
  "config:read": "read configuration and flags",
  "config:admin": "change configuration and flags",
  "env:read": "read the environment of the services",
  "webhooks:read": "read endpoints, sources and deliveries",
  "webhooks:write": "change endpoints and sources, and send again",
  "events:publish": "publish events",
  "management:read": "read the state of the services",
  "operations:read": "read parked and dead messages, and lag",
  "operations:write": "send parked and dead messages again, or drop them",
};

interface ChoiceProps {
  readonly legend: string;
  readonly offered: readonly Scope[];
  readonly chosen: readonly Scope[];
  readonly choose: (scopes: Scope[]) => void;
}

/** Scopes as boxes, each with what it allows. */
export function ScopeChoice({ legend, offered, chosen, choose }: ChoiceProps) {
  const toggle = (scope: Scope) =>
    choose(chosen.includes(scope) ? chosen.filter((one) => one !== scope) : [...chosen, scope]);
  return (
    <fieldset>
      <legend>
        <strong>{legend}</strong>
      </legend>
      <div className={parts.checks}>
        {offered.map((scope) => (
          <label key={scope} className={parts.check}>
            <input type="checkbox" checked={chosen.includes(scope)} onChange={() => toggle(scope)} />
            <span>
              <code>{scope}</code> <span className={parts.quiet}>{texts[scope]}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Scopes that a list shows at once; the others are one press away. */
const shownMax = 3;

/** The scopes of something in a list. */
export function Scopes({ scopes }: { readonly scopes: readonly Scope[] }) {
  const text = <code className={parts.quiet}>{scopes.join(" ") || "nothing"}</code>;
  if (scopes.length <= shownMax) return text;
  return (
    <details>
      <summary>{scopes.length} scopes</summary>
      {text}
    </details>
  );
}
