import type { WebhookPresetInFull } from "@signalbox/client";
import { type FormEvent, useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { useChange } from "../../parts/dialog.tsx";
import { Field } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { api, versioned } from "../../session/api.ts";
import { settingsOf } from "../source/source-input.ts";
import type { Source } from "../sources.ts";
import styles from "./connect.module.css";
import { isChosenByOwner, newSecret } from "./new-secret.ts";

const schemes = ["hmac", "standard-webhooks", "token", "ed25519", "jwt"] as const;
/** Origin of the secret: made here, known already, or shown by the sender once its webhook exists. */
type From = "made" | "known" | "later";

interface NewSourceInput {
  readonly name: string;
  readonly from: From;
  readonly secret: string;
  readonly verifyToken: string;
  readonly scheme: (typeof schemes)[number];
  readonly settings: string;
  readonly keepRejected: boolean;
}

interface NewSourceProps {
  /** Null for a sender without a preset. */
  readonly preset: WebhookPresetInFull | null;
  readonly onDone: (source: Source, secret: string | null, isLater: boolean) => void;
}

/** Makes the source of a sender. */
export function NewSource({ preset, onDone }: NewSourceProps) {
  const [input, setInput] = useState<NewSourceInput>(() => emptyInput(preset));
  // The same key for the same form: a second press after a lost answer makes no second source.
  const [key] = useState(() => crypto.randomUUID());
  const creation = useChange(
    async () => {
      const secret = input.from === "known" ? input.secret.trim() : madeSecret(preset, input);
      const params = { header: { "Idempotency-Key": key } };
      const body = bodyOf(preset, input, secret) as never;
      const { data } = await versioned(api.POST("/api/v1/webhooks/sources", { params, body }));
      return { source: data as Source, secret: input.from === "made" ? secret : null };
    },
    ({ source, secret }) => onDone(source, secret, input.from === "later"),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creation.mutate();
  };
  return (
    <form className={parts.page} onSubmit={submit}>
      <Fields preset={preset} input={input} set={(changed) => setInput({ ...input, ...changed })} />
      {creation.error && <Failure error={creation.error} what="source" />}
      <div>
        <button type="submit" className="main" disabled={creation.isPending}>
          Make the address
        </button>
      </div>
    </form>
  );
}

function emptyInput(preset: WebhookPresetInFull | null): NewSourceInput {
  const own = Object.fromEntries(preset?.owner_settings.map(({ name }) => [name, ""]) ?? []);
  return {
    name: preset?.title ?? "",
    from: preset === null || isChosenByOwner(preset.secret) ? "made" : "known",
    secret: "",
    verifyToken: "",
    scheme: "hmac",
    settings: Object.keys(own).length === 0 ? "" : JSON.stringify(own, null, 2),
    keepRejected: true,
  };
}

const signedAs = (preset: WebhookPresetInFull | null, { scheme }: Pick<NewSourceInput, "scheme">) =>
  preset ?? { scheme, settings: {} };

/** @throws Error where only the sender can have the secret */
function madeSecret(preset: WebhookPresetInFull | null, input: NewSourceInput): string {
  const secret = newSecret(signedAs(preset, input));
  if (secret === null) throw new Error("Secret: this sender signs with a key of its own. Enter its public key.");
  return secret;
}

function bodyOf(preset: WebhookPresetInFull | null, input: NewSourceInput, secret: string) {
  return {
    name: input.name.trim(),
    secret,
    ...(preset ? { preset: preset.name } : { scheme: input.scheme }),
    ...(input.verifyToken !== "" && { verify_token: input.verifyToken.trim() }),
    settings: { ...settingsOf(input.settings), keep_rejected_bodies: input.keepRejected },
  };
}

interface FieldsProps {
  readonly preset: WebhookPresetInFull | null;
  readonly input: NewSourceInput;
  readonly set: (changed: Partial<NewSourceInput>) => void;
}

function Fields({ preset, input, set }: FieldsProps) {
  const hasSettings = preset === null || preset.owner_settings.length > 0;
  return (
    <>
      <Field label="Name" hint="For you; the sender does not see it.">
        {(ids) => <input {...ids} required value={input.name} onChange={({ target }) => set({ name: target.value })} />}
      </Field>
      {preset === null && (
        <Field
          label="How it signs"
          hint="hmac: a text of the request, with a shared secret. token: it only shows the secret."
        >
          {(ids) => (
            <select
              {...ids}
              value={input.scheme}
              onChange={({ target }) => set({ scheme: target.value as NewSourceInput["scheme"] })}
            >
              {schemes.map((scheme) => (
                <option key={scheme}>{scheme}</option>
              ))}
            </select>
          )}
        </Field>
      )}
      <SecretChoice preset={preset} input={input} set={set} />
      {preset?.settings.handshake === "meta" && (
        <Field
          label="Verify token"
          hint="A text of your choice of 8 characters or more; enter the same one at the sender."
        >
          {(ids) => (
            <input
              {...ids}
              required
              minLength={8}
              autoComplete="off"
              value={input.verifyToken}
              onChange={({ target }) => set({ verifyToken: target.value })}
            />
          )}
        </Field>
      )}
      {hasSettings && (
        <Field label="Settings" hint={settingsHint(preset)}>
          {(ids) => (
            <textarea
              {...ids}
              rows={5}
              spellCheck={false}
              value={input.settings}
              onChange={({ target }) => set({ settings: target.value })}
            />
          )}
        </Field>
      )}
      <label className={parts.check}>
        <input
          type="checkbox"
          checked={input.keepRejected}
          onChange={({ target }) => set({ keepRejected: target.checked })}
        />
        Keep rejected webhooks, so that none is lost while something is wrong
      </label>
    </>
  );
}

const settingsHint = (preset: WebhookPresetInFull | null): string =>
  preset === null
    ? 'A JSON object, such as {"signature_header": "x-signature"}. Empty: the defaults of how it signs.'
    : preset.owner_settings.map(({ name, description }) => `${name}: ${description}`).join(" ");

function SecretChoice({ preset, input, set }: FieldsProps) {
  const canBeMade = newSecret(signedAs(preset, input)) !== null;
  const choices: ReadonlyArray<readonly [From, string]> = [
    ["made", "Make one for me; I enter it at the sender"],
    ["known", "I have it"],
    ["later", "The sender shows it once its webhook exists; I enter it here then"],
  ];
  const shown = canBeMade ? choices : choices.filter(([from]) => from === "known");
  const from = canBeMade ? input.from : "known";
  return (
    <>
      <fieldset className={styles.choices}>
        <legend>Its secret</legend>
        {preset && <p className={parts.quiet}>{preset.secret}</p>}
        {shown.map(([choice, text]) => (
          <label key={choice} className={parts.check}>
            <input type="radio" name="secret-from" checked={from === choice} onChange={() => set({ from: choice })} />
            {text}
          </label>
        ))}
      </fieldset>
      {from === "known" && (
        <Field label="Secret" hint="As the sender shows it, without a space around it.">
          {(ids) => (
            <input
              {...ids}
              required
              autoComplete="off"
              spellCheck={false}
              value={input.secret}
              onChange={({ target }) => set({ secret: target.value, from: "known" })}
            />
          )}
        </Field>
      )}
    </>
  );
}
