import { Field } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { useChoosesEvents, useIsPortal, useMay } from "../../session/api.ts";
import type { Endpoint } from "../webhooks.ts";
import type { EndpointInput } from "./endpoint-input.ts";
import { MoreEndpointFields } from "./more-endpoint-fields.tsx";

interface FieldsProps {
  readonly input: EndpointInput;
  readonly change: (input: EndpointInput) => void;
  /** The endpoint as it is, for one that is edited. */
  readonly present?: Endpoint;
}

/** The fields of an endpoint, for a new one and for one that is edited. */
export function EndpointFields({ input, change, present }: FieldsProps) {
  const set = (changed: Partial<EndpointInput>) => change({ ...input, ...changed });
  const isPortal = useIsPortal();
  const choosesEvents = useChoosesEvents();
  const mayMove = useMay("account:security") || !isPortal;
  return (
    <>
      <Field
        label="Address of your receiver"
        hint={mayMove ? "https, reachable from this deployment." : "This link does not change it."}
      >
        {(ids) => (
          <input
            {...ids}
            type="url"
            required
            readOnly={!mayMove}
            spellCheck={false}
            value={input.url}
            onChange={({ target }) => set({ url: target.value })}
          />
        )}
      </Field>
      <Field label="Description" hint="For people; receivers do not see it.">
        {(ids) => (
          <input {...ids} value={input.description} onChange={({ target }) => set({ description: target.value })} />
        )}
      </Field>
      <Field
        label="Event types"
        hint={
          choosesEvents
            ? "One on each line. image.* is every type that begins with image., and * is every type."
            : "Those who gave you this link decide about them."
        }
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={3}
            required
            readOnly={!choosesEvents}
            spellCheck={false}
            value={input.eventTypes}
            onChange={({ target }) => set({ eventTypes: target.value })}
          />
        )}
      </Field>
      <details>
        <summary>Filter and settings</summary>
        <div className={parts.page}>
          <Settings input={input} change={change} />
        </div>
      </details>
      <details>
        <summary>Rate, headers, metadata and client certificate</summary>
        <div className={parts.page}>
          <MoreEndpointFields input={input} set={set} {...(present && { present })} />
        </div>
      </details>
    </>
  );
}

function Settings({ input, change }: FieldsProps) {
  const choosesEvents = useChoosesEvents();
  const set = (changed: Partial<EndpointInput>) => change({ ...input, ...changed });
  return (
    <>
      <Field
        label="Filter"
        hint="A JSON object that the data of an event has to match. Empty: every event of the types above."
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={5}
            spellCheck={false}
            readOnly={!choosesEvents}
            value={input.filter}
            onChange={({ target }) => set({ filter: target.value })}
          />
        )}
      </Field>
      <Field
        label="Format"
        hint="envelope has the id and the type around the data; original is the body as it was received."
      >
        {(ids) => (
          <select {...ids} value={input.format} onChange={({ target }) => set({ format: target.value })}>
            <option>envelope</option>
            <option>original</option>
          </select>
        )}
      </Field>
      <label className={parts.check}>
        <input type="checkbox" checked={input.ordered} onChange={({ target }) => set({ ordered: target.checked })} />
        Keep the order of events with the same key
      </label>
      <Field label="Time limit of an attempt in seconds" hint="Empty: that of the service.">
        {(ids) => (
          <input
            {...ids}
            inputMode="numeric"
            value={input.timeoutSeconds}
            onChange={({ target }) => set({ timeoutSeconds: target.value })}
          />
        )}
      </Field>
      <Field label="At the same time" hint="Largest number of attempts in flight. Empty: that of the service.">
        {(ids) => (
          <input
            {...ids}
            inputMode="numeric"
            value={input.maxInFlight}
            onChange={({ target }) => set({ maxInFlight: target.value })}
          />
        )}
      </Field>
      <Field label="Waits between tries in seconds" hint="As 5, 300, 1800. Empty: the schedule of the service.">
        {(ids) => (
          <input {...ids} value={input.retrySchedule} onChange={({ target }) => set({ retrySchedule: target.value })} />
        )}
      </Field>
    </>
  );
}
