import type { InputProps } from "../../parts/fields.tsx";
import { Fields, type FieldsData } from "../../parts/form.tsx";
import { Time } from "../../parts/inline.tsx";
import parts from "../../parts/parts.module.css";
import { Group, RowList } from "../../parts/row-list.tsx";
import { useChoosesEvents, useIsPortal, useMay } from "../../session/api.ts";
import type { Endpoint } from "../webhooks.ts";
import { blankText, type EndpointInput } from "./endpoint-input.ts";

interface FieldsProps extends InputProps<EndpointInput> {
  /** The endpoint as it is, for one that is edited. */
  readonly present?: Endpoint;
}

/** The fields of an endpoint, for a new one and for one that is edited. */
export function EndpointFields({ present, ...form }: FieldsProps) {
  const isPortal = useIsPortal();
  const choosesEvents = useChoosesEvents();
  const mayMove = useMay("account:security") || !isPortal;
  const first: FieldsData<EndpointInput> = {
    url: {
      label: "Address of your receiver",
      hint: mayMove ? "https, reachable from this deployment." : "This link does not change it.",
      type: "url",
      required: true,
      readOnly: !mayMove,
    },
    description: { label: "Description", hint: "For people; receivers do not see it.", isProse: true },
    eventTypes: {
      label: "Event types",
      hint: choosesEvents
        ? "One on each line. image.* is every type that begins with image., and * is every type."
        : "Those who gave you this link decide about them.",
      rows: 3,
      required: true,
      readOnly: !choosesEvents,
    },
  };
  return (
    <>
      <Fields {...form} fields={first} />
      <details>
        <summary>Filter and settings</summary>
        <div className={parts.page}>
          <Fields {...form} fields={{ filter: { ...filter, readOnly: !choosesEvents }, ...settings }} />
        </div>
      </details>
      <details>
        <summary>{isPortal ? "Rate and client certificate" : "Rate, headers, metadata and client certificate"}</summary>
        <div className={parts.page}>
          <Fields {...form} fields={{ ...rate, ...(isPortal ? {} : named) }} />
          {present?.type !== "pull" && <Certificate {...form} {...(present && { present })} />}
        </div>
      </details>
    </>
  );
}

const filter = {
  label: "Filter",
  hint: "A JSON object that the data of an event has to match. Empty: every event of the types above.",
  rows: 5,
};

const settings: FieldsData<EndpointInput> = {
  format: {
    label: "Format",
    hint: "envelope has the id and the type around the data; original is the body as it was received.",
    choices: ["envelope", "original"],
  },
  ordered: { label: "Keep the order of events with the same key" },
  timeoutSeconds: {
    label: "Time limit of an attempt in seconds",
    hint: "Empty: that of the service.",
    inputMode: "numeric",
  },
  maxInFlight: {
    label: "At the same time",
    hint: "Largest number of attempts in flight. Empty: that of the service.",
    inputMode: "numeric",
  },
  retrySchedule: {
    label: "Waits between tries in seconds",
    hint: "As 5, 300, 1800. Empty: the schedule of the service.",
  },
};

/** The fields that few need. */
const rate: FieldsData<EndpointInput> = {
  rateLimit: {
    label: "Deliveries at most",
    hint: "Empty: as fast as the receiver takes them.",
    inputMode: "numeric",
  },
  rateSeconds: { label: "In seconds", hint: "The period of that number, evenly spread.", inputMode: "numeric" },
};

const named: FieldsData<EndpointInput> = {
  headers: ({ value, set }) => (
    <RowList
      legend="Headers of every delivery"
      noun="header"
      max={10}
      rows={value}
      set={set}
      blank={blankText}
      fields={(number, { secret }) => ({
        name: { label: `Name of header ${number}` },
        value: {
          label: `Value of header ${number}`,
          type: secret ? "password" : "text",
          placeholder: secret ? "Empty: as it was" : "",
        },
        secret: { label: "hidden" },
      })}
    />
  ),
  metadata: ({ value, set }) => (
    <RowList
      legend="Metadata, for you alone"
      noun="text"
      max={20}
      rows={value}
      set={set}
      blank={blankText}
      fields={(number) => ({
        name: { label: `Name of text ${number}` },
        value: { label: `Value of text ${number}` },
      })}
    />
  ),
};

/** The certificate by which a receiver recognizes this deployment (mutual TLS). Its key is never shown. */
function Certificate({ present, ...form }: FieldsProps) {
  const shown = present?.settings.client_certificate ?? null;
  return (
    <Group legend="Client certificate">
      {shown && (
        <p>
          In use: {shown.subject}, which ends <Time at={shown.expires_at} />. SHA-256 <code>{shown.fingerprint}</code>
        </p>
      )}
      <Fields
        {...form}
        fields={{
          isWithoutCertificate: shown !== null && { label: "Take it away" },
          certificate: {
            label: "Certificate with its chain",
            hint: shown ? "PEM. Empty: the one in use stays." : "PEM.",
            rows: 3,
          },
          certificateKey: {
            label: "Private key",
            hint: "PEM without a passphrase. It is never shown again.",
            rows: 3,
          },
        }}
      />
    </Group>
  );
}
