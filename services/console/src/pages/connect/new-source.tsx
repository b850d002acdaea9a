import type { WebhookPresetInFull } from "@signalbox/client";
import { useMemo, useState } from "react";
import { ChangeForm, useChange } from "../../parts/dialog.tsx";
import { CheckField, fieldsOf, type InputProps, SelectField, TextArea, TextField } from "../../parts/fields.tsx";
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
  // One secret for the form: after a lost answer the same content is sent again.
  const made = useMemo(() => newSecret(signedAs(preset, { scheme: input.scheme })), [preset, input.scheme]);
  const creation = useChange(
    async () => {
      const secret = input.from === "known" ? input.secret.trim() : ofHere(made);
      const body = bodyOf(preset, input, secret) as never;
      const { data } = await versioned(api.POST("/api/v1/webhooks/sources", { body }));
      return { source: data as Source, secret: input.from === "made" ? secret : null };
    },
    ({ source, secret }) => onDone(source, secret, input.from === "later"),
  );
  return (
    <ChangeForm change={creation} what="source" submitLabel="Make the address" kind="main">
      <Fields preset={preset} input={input} set={(changed) => setInput({ ...input, ...changed })} />
    </ChangeForm>
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
function ofHere(secret: string | null): string {
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

interface FieldsProps extends InputProps<NewSourceInput> {
  readonly preset: WebhookPresetInFull | null;
}

function Fields({ preset, input, set }: FieldsProps) {
  const hasSettings = preset === null || preset.owner_settings.length > 0;
  const field = fieldsOf(input, set);
  return (
    <>
      <TextField label="Name" hint="For you; the sender does not see it." required {...field("name")} />
      {preset === null && (
        <SelectField
          label="How it signs"
          hint="hmac: a text of the request, with a shared secret. token: it only shows the secret."
          choices={schemes}
          {...field("scheme")}
        />
      )}
      <SecretChoice preset={preset} input={input} set={set} />
      {preset?.settings.handshake === "meta" && (
        <TextField
          label="Verify token"
          hint="A text of your choice of 8 characters or more; enter the same one at the sender."
          required
          minLength={8}
          autoComplete="off"
          {...field("verifyToken")}
        />
      )}
      {hasSettings && (
        <TextArea label="Settings" hint={settingsHint(preset)} rows={5} spellCheck={false} {...field("settings")} />
      )}
      <CheckField
        label="Keep rejected webhooks, so that none is lost while something is wrong"
        {...field("keepRejected")}
      />
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
        <TextField
          label="Secret"
          hint="As the sender shows it, without a space around it."
          required
          autoComplete="off"
          spellCheck={false}
          value={input.secret}
          set={(secret) => set({ secret, from: "known" })}
        />
      )}
    </>
  );
}
