import parts from "../parts/parts.module.css";

export interface UnavailableProps {
  readonly services: ReadonlyArray<{ readonly service: string; readonly message: string }>;
}

/** Says which services did not answer; what the others answered is shown. */
export function Unavailable({ services }: UnavailableProps) {
  if (services.length === 0) return null;
  return (
    <div role="alert" className={`${parts.notice} ${parts.bad}`}>
      <strong>Not all services answered. The rest is shown.</strong>
      <ul>
        {services.map(({ service, message }) => (
          <li key={service}>
            {service}: {message}
          </li>
        ))}
      </ul>
    </div>
  );
}
